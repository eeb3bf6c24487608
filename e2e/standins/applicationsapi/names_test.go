package main

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestNamesAreThoseOfHelmReleases(t *testing.T) {
	newTenant(t, "tenant-names")
	longest := strings.Repeat("x", 53-len("postgres-"))
	for _, c := range []struct {
		kind, name string
		taken      bool
	}{
		{"Postgres", longest, true},
		{"Postgres", longest + "x", false},
		{"Postgres", "1st", false},
		{"Postgres", "a.b", false},
		{"Tenant", "one", true},
		{"Tenant", "with-dash", false},
		{"Tenant", strings.Repeat("x", 50), false},
	} {
		err := cluster.Client.Create(t.Context(), fixtures.Application(c.kind, "tenant-names", c.name))
		if c.taken && err != nil || !c.taken && !apierrors.IsInvalid(err) {
			t.Errorf("%s %s: %v, want taken: %t", c.kind, c.name, err, c.taken)
		}
	}
}

func TestKeysOfThePlatformAreRefused(t *testing.T) {
	newTenant(t, "tenant-keys")
	object := postgres("tenant-keys", "db", map[string]any{"_namespace": map[string]any{}})
	if err := cluster.Client.Create(t.Context(), object); !apierrors.IsBadRequest(err) {
		t.Errorf("create: %v, want a bad request", err)
	}
	object = postgres("tenant-keys", "db", map[string]any{"nested": map[string]any{"_x": "taken"}})
	create(t, object)
	object.Object["spec"] = map[string]any{"_cluster": "x"}
	if err := cluster.Client.Update(t.Context(), object); !apierrors.IsBadRequest(err) {
		t.Errorf("update: %v, want a bad request", err)
	}
}
