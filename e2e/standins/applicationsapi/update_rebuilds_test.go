package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestUpdateErasesWhatOthersPutOnTheRelease(t *testing.T) {
	newTenant(t, "tenant-rebuild")
	object := postgres("tenant-rebuild", "db", map[string]any{"size": "1Gi"})
	create(t, object)
	patch := client.RawPatch(types.MergePatchType, []byte(`{
		"metadata": {
			"labels": {"example.org/own": "x", "sharding.fluxcd.io/key": "moved"},
			"annotations": {"example.org/own": "x"},
			"finalizers": ["finalizers.fluxcd.io"]
		},
		"spec": {"suspend": true, "valuesFrom": [{"kind": "Secret", "name": "cozystack-values"}, {"kind": "Secret", "name": "second"}]}
	}`))
	release := stored(t, "Postgres", "tenant-rebuild", "db")
	if err := cluster.Client.Patch(t.Context(), release, patch); err != nil {
		t.Fatal(err)
	}
	database := read(t, "tenant-rebuild", "db")
	database.Object["spec"] = map[string]any{"size": "2Gi"}
	if err := cluster.Client.Update(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	release = stored(t, "Postgres", "tenant-rebuild", "db")
	want(t, release, "moved", "metadata", "labels", "sharding.fluxcd.io/key")
	want(t, release, nil, "metadata", "labels", "example.org/own")
	want(t, release, nil, "metadata", "annotations")
	want(t, release, nil, "metadata", "finalizers")
	want(t, release, nil, "spec", "suspend")
	sources, _, _ := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
	if len(sources) != 1 {
		t.Errorf("sources of values: %v, want one", sources)
	}
}

func TestPutOfNameNamespaceAndSpecWipesLabels(t *testing.T) {
	newTenant(t, "tenant-console")
	object := postgres("tenant-console", "db", map[string]any{"size": "1Gi"})
	object.SetLabels(map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"})
	object.SetAnnotations(map[string]string{"note": "x"})
	create(t, object)
	if err := cluster.Client.Update(t.Context(), postgres("tenant-console", "db", map[string]any{"size": "2Gi"})); err != nil {
		t.Fatal(err)
	}
	database := read(t, "tenant-console", "db")
	want(t, database, "2Gi", "spec", "size")
	want(t, database, nil, "metadata", "labels")
	want(t, database, nil, "metadata", "annotations")
}
