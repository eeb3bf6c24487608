package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

func TestKindsAreReadAtStart(t *testing.T) {
	newTenant(t, "tenant-kinds")
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cozystack.io/v1alpha1", "kind": "ApplicationDefinition",
		"metadata": map[string]any{"name": "widget"},
		"spec": map[string]any{
			"application": map[string]any{"kind": "Widget", "singular": "widget", "plural": "widgets", "openAPISchema": `{"type":"object"}`},
			"release":     map[string]any{"prefix": "widget-", "chartRef": map[string]any{"kind": "ExternalArtifact", "name": "widget"}},
		},
	}}
	if err := manifests.Apply(t.Context(), cluster.Client, definition); err != nil {
		t.Fatal(err)
	}
	fresh := func() client.Client {
		t.Helper()
		made, err := cluster.NewClient(nil)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	if err := fresh().Create(t.Context(), fixtures.Application("Widget", "tenant-kinds", "one")); err == nil {
		t.Error("a kind was served that was not there at the start")
	}
	if err := cluster.ServeApplications(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := fresh().Create(t.Context(), fixtures.Application("Widget", "tenant-kinds", "one")); err != nil {
		t.Error(err)
	}
	if err := cluster.Client.Delete(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	if err := cluster.ServeApplications(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestApplicationsAreServedAfterTheAPIServersRestart(t *testing.T) {
	newTenant(t, "tenant-restart")
	create(t, postgres("tenant-restart", "db", nil))
	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, read(t, "tenant-restart", "db"), "10Gi", "spec", "size")
	mustApply(t, postgres("tenant-restart", "db", map[string]any{"size": "2Gi"}))
}
