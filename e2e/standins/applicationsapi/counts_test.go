package main

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/writes"
)

func counted(t *testing.T, verb string) writes.Count {
	t.Helper()
	counts, err := cluster.ApplicationWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range counts {
		if count.Verb == verb && count.Kind == "Postgres" {
			return count
		}
	}
	return writes.Count{}
}

func TestWritesThatChangeSomethingAreToldFromOthers(t *testing.T) {
	newTenant(t, "tenant-counts")
	before := counted(t, "patch")
	object := postgres("tenant-counts", "db", map[string]any{"size": "1Gi"})
	// It is created, then its defaults are stored, then nothing changes.
	for range 4 {
		mustApply(t, object)
	}
	after := counted(t, "patch")
	if changed, unchanged := after.Changed-before.Changed, after.Unchanged-before.Unchanged; changed != 2 || unchanged != 2 {
		t.Errorf("%d writes changed something and %d nothing, want 2 and 2", changed, unchanged)
	}
}
