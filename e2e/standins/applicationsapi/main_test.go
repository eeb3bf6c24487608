package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	options := embedded.Options{Applications: embedded.AggregatedApplications, Flux: true}
	os.Exit(embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.InstallPlatform(ctx, c)
	}))
}

// newTenant makes the namespace that a test works in.
func newTenant(t *testing.T, namespace string) {
	t.Helper()
	if err := fixtures.CreateTenant(t.Context(), cluster.Client, namespace); err != nil {
		t.Fatal(err)
	}
}

// postgres is a database with a spec, not stored yet.
func postgres(namespace, name string, spec map[string]any) *unstructured.Unstructured {
	object := fixtures.Application("Postgres", namespace, name)
	object.Object["spec"] = spec
	return object
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := cluster.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// read reads an application of the kind Postgres.
func read(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object := fixtures.Application("Postgres", namespace, name)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// stored reads the HelmRelease behind an application.
func stored(t *testing.T, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := fixtures.Release(kind, namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// apply applies an application as kustomize-controller does, by force.
func apply(t *testing.T, object *unstructured.Unstructured, options ...client.ApplyOption) error {
	t.Helper()
	options = append([]client.ApplyOption{client.FieldOwner("kustomize-controller")}, options...)
	return cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object.DeepCopy()), options...)
}

func mustApply(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	if err := apply(t, object, client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
}

// want compares a value within an object, as it is printed.
func want(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	found, exists, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	if value == nil {
		if exists {
			t.Errorf("%v of %s %s is %v, want none", path, object.GetKind(), object.GetName(), found)
		}
		return
	}
	if fmt.Sprint(found) != fmt.Sprint(value) {
		t.Errorf("%v of %s %s is %v, want %v", path, object.GetKind(), object.GetName(), found, value)
	}
}
