package main

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestClientsLearnTheKindsAndTheirSchemas(t *testing.T) {
	for _, c := range []struct {
		path  string
		parts []string
	}{
		{"/openapi/v2", []string{"io.cozystack.apps.v1alpha1.Postgres", "/apis/apps.cozystack.io/v1alpha1/namespaces/{namespace}/postgreses"}},
		{"/openapi/v3/apis/apps.cozystack.io/v1alpha1", []string{"io.cozystack.apps.v1alpha1.Postgres", "x-kubernetes-list-map-keys"}},
		{"/apis/apps.cozystack.io/v1alpha1", []string{`"postgreses"`, `"tenants"`}},
		{"/apis/apps.cozystack.io", []string{"apps.cozystack.io/v1alpha1"}},
	} {
		text, err := cluster.Kubectl(t.Context(), "get", "--raw", c.path)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range c.parts {
			if !strings.Contains(text, part) {
				t.Errorf("%s does not say %s", c.path, part)
			}
		}
	}
}

func TestPrintedColumns(t *testing.T) {
	newTenant(t, "tenant-printed")
	create(t, postgres("tenant-printed", "db", nil))
	text, err := cluster.Kubectl(t.Context(), "-n", "tenant-printed", "get", "postgreses.apps.cozystack.io")
	if err != nil {
		t.Fatal(err)
	}
	if fields := strings.Fields(text); len(fields) < 5 || strings.Join(fields[:4], " ") != "NAME READY AGE db" {
		t.Errorf("printed:\n%s", text)
	}
}

func TestStrategicMergeIsNotOffered(t *testing.T) {
	newTenant(t, "tenant-strategic")
	object := postgres("tenant-strategic", "db", nil)
	create(t, object)
	err := cluster.Client.Patch(t.Context(), object, client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"size":"2Gi"}}`)))
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Errorf("strategic merge: %v, want an unsupported media type", err)
	}
}
