package main

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestApplicationIsStoredAsAHelmRelease(t *testing.T) {
	newTenant(t, "tenant-stored")
	object := postgres("tenant-stored", "db", map[string]any{"size": "1Gi", "unknown": "kept"})
	object.SetLabels(map[string]string{"team": "a", "example.org/tier": "gold"})
	object.SetAnnotations(map[string]string{"note": "hello"})
	create(t, object)
	release := stored(t, "Postgres", "tenant-stored", "db")
	want(t, release, "postgres-db", "metadata", "name")
	want(t, release, map[string]string{
		"apps.cozystack.io/application.kind":  "Postgres",
		"apps.cozystack.io/application.group": fixtures.Group,
		"apps.cozystack.io/application.name":  "db",
		"sharding.fluxcd.io/key":              "tenants",
		"apps.cozystack.io-team":              "a",
		"apps.cozystack.io-example.org/tier":  "gold",
	}, "metadata", "labels")
	want(t, release, map[string]string{"apps.cozystack.io-note": "hello"}, "metadata", "annotations")
	want(t, release, []any{map[string]any{"kind": "Secret", "name": "cozystack-values"}}, "spec", "valuesFrom")
	want(t, release, map[string]any{"size": "1Gi", "unknown": "kept"}, "spec", "values")
	want(t, release, map[string]any{"kind": "ExternalArtifact", "name": "cozystack-postgres", "namespace": "cozy-system"}, "spec", "chartRef")
	writers := release.GetManagedFields()
	if len(writers) != 1 || writers[0].Manager != "applicationsapi" {
		t.Errorf("written by %+v", writers)
	}
	writes, err := cluster.Writes(object.GetCreationTimestamp().Time, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if write.Resource == "helmreleases" && write.Namespace == "tenant-stored" && write.User != "system:serviceaccount:cozy-system:cozystack-api" {
			t.Errorf("written by another user: %s", write)
		}
	}
}

func TestOfMetadataOnlySomeIsReadBack(t *testing.T) {
	newTenant(t, "tenant-readback")
	object := postgres("tenant-readback", "db", map[string]any{"size": "1Gi"})
	object.SetLabels(map[string]string{"team": "a"})
	object.SetFinalizers([]string{"example.org/held"})
	create(t, object)
	release := stored(t, "Postgres", "tenant-readback", "db")
	database := read(t, "tenant-readback", "db")
	if database.GetUID() != release.GetUID() || database.GetResourceVersion() != release.GetResourceVersion() {
		t.Error("UID and resource version are not the release's")
	}
	want(t, database, map[string]string{"team": "a"}, "metadata", "labels")
	for _, lost := range []string{"managedFields", "ownerReferences", "finalizers", "generation"} {
		want(t, database, nil, "metadata", lost)
	}
	want(t, release, nil, "metadata", "finalizers")
}

func TestKindsWithoutAPrefixShareNames(t *testing.T) {
	newTenant(t, "tenant-shared")
	create(t, fixtures.Application("Etcd", "tenant-shared", "one"))
	err := cluster.Client.Create(t.Context(), fixtures.Application("Ingress", "tenant-shared", "one"))
	wantServerError(t, err, "already exists")
}
