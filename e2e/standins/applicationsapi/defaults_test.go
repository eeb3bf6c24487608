package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDefaultsAreReadAndStoredByTheNextPatch(t *testing.T) {
	newTenant(t, "tenant-defaults")
	create(t, postgres("tenant-defaults", "db", map[string]any{"size": "1Gi"}))
	database := read(t, "tenant-defaults", "db")
	want(t, database, 2, "spec", "replicas")
	want(t, database, "small", "spec", "resources", "preset")
	want(t, stored(t, "Postgres", "tenant-defaults", "db"), map[string]any{"size": "1Gi"}, "spec", "values")

	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":"2Gi"}}`))
	if err := cluster.Client.Patch(t.Context(), database, patch); err != nil {
		t.Fatal(err)
	}
	release := stored(t, "Postgres", "tenant-defaults", "db")
	want(t, release, "2Gi", "spec", "values", "size")
	want(t, release, 2, "spec", "values", "replicas")
}

func TestDefaultsOfAnApplicationWithoutASpec(t *testing.T) {
	newTenant(t, "tenant-nospec")
	object := postgres("tenant-nospec", "db", nil)
	delete(object.Object, "spec")
	create(t, object)
	want(t, read(t, "tenant-nospec", "db"), "10Gi", "spec", "size")
	want(t, stored(t, "Postgres", "tenant-nospec", "db"), nil, "spec", "values")
}
