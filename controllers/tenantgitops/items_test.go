package tenantgitops_test

import (
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// items are the objects of a list of any kind.
func items(t *testing.T, list client.ObjectList) []client.Object {
	t.Helper()
	extracted, err := apimeta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	for _, item := range extracted {
		objects = append(objects, item.(client.Object))
	}
	return objects
}
