package main

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestApplyNeverTakesAwayWhatItOnceApplied(t *testing.T) {
	newTenant(t, "tenant-apply")
	first := postgres("tenant-apply", "db", map[string]any{
		"size": "1Gi", "parameters": map[string]any{"a": "1", "b": "2"},
	})
	first.SetLabels(map[string]string{"team": "a", "tier": "gold"})
	mustApply(t, first)
	second := postgres("tenant-apply", "db", map[string]any{"parameters": map[string]any{"a": "3"}})
	second.SetLabels(map[string]string{"team": "b"})
	mustApply(t, second)
	database := read(t, "tenant-apply", "db")
	want(t, database, "1Gi", "spec", "size")
	want(t, database, map[string]any{"a": "3", "b": "2"}, "spec", "parameters")
	want(t, database, map[string]string{"team": "b", "tier": "gold"}, "metadata", "labels")
	want(t, database, nil, "metadata", "managedFields")
}

func TestApplyWithoutForceConflictsWithEverybody(t *testing.T) {
	newTenant(t, "tenant-conflict")
	mustApply(t, postgres("tenant-conflict", "db", map[string]any{"size": "1Gi"}))
	// It is the same manager; that it owns the field was never stored.
	err := apply(t, postgres("tenant-conflict", "db", map[string]any{"size": "2Gi"}))
	if !apierrors.IsConflict(err) {
		t.Errorf("apply of another value: %v, want a conflict", err)
	}
	if err := apply(t, postgres("tenant-conflict", "db", map[string]any{"size": "1Gi"})); err != nil {
		t.Errorf("apply of the same value: %v", err)
	}
}

func TestApplyMergesListsAsTheSchemaSays(t *testing.T) {
	newTenant(t, "tenant-lists")
	mustApply(t, postgres("tenant-lists", "db", map[string]any{
		"allowedRanges": []any{"10.0.0.0/8", "10.1.0.0/16"},
		"extensions":    []any{"a", "b"},
		"databases":     []any{map[string]any{"name": "one", "owner": "x"}, map[string]any{"name": "two"}},
	}))
	mustApply(t, postgres("tenant-lists", "db", map[string]any{
		"allowedRanges": []any{"10.2.0.0/16"},
		"extensions":    []any{"c"},
		"databases":     []any{map[string]any{"name": "one", "owner": "y"}},
	}))
	database := read(t, "tenant-lists", "db")
	want(t, database, []any{"10.2.0.0/16"}, "spec", "allowedRanges")
	want(t, database, []any{"a", "b", "c"}, "spec", "extensions")
	want(t, database, []any{
		map[string]any{"locale": "C", "name": "one", "owner": "y"}, map[string]any{"locale": "C", "name": "two"},
	}, "spec", "databases")
}
