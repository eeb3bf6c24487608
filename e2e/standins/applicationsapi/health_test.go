package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestConditionsAreThoseOfTheRelease(t *testing.T) {
	newTenant(t, "tenant-health")
	create(t, postgres("tenant-health", "db", nil))
	want(t, read(t, "tenant-health", "db"), nil, "status", "conditions")

	conditions := `{"status":{"observedGeneration":1,"conditions":[
		{"type":"Ready","status":"False","reason":"InstallFailed","message":"no space","observedGeneration":1,"lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"Released","status":"False","reason":"InstallFailed","message":"no space","lastTransitionTime":"2026-01-01T00:00:00Z"},
		{"type":"Remediated","status":"True","reason":"x","message":"x","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	release := stored(t, "Postgres", "tenant-health", "db")
	if err := cluster.Client.Status().Patch(t.Context(), release, client.RawPatch(types.MergePatchType, []byte(conditions))); err != nil {
		t.Fatal(err)
	}
	database := read(t, "tenant-health", "db")
	shown, _, _ := unstructured.NestedSlice(database.Object, "status", "conditions")
	if len(shown) != 2 {
		t.Fatalf("conditions %v, want Ready and Released", shown)
	}
	ready := shown[0].(map[string]any)
	if ready["type"] != "Ready" || ready["message"] != "no space" || ready["observedGeneration"] != nil {
		t.Errorf("condition %v", ready)
	}
	if err := fixtures.ReportReady(t.Context(), cluster.Client, "Postgres", "tenant-health", "db", metav1.ConditionTrue, "all well"); err != nil {
		t.Fatal(err)
	}
	shown, _, _ = unstructured.NestedSlice(read(t, "tenant-health", "db").Object, "status", "conditions")
	if len(shown) != 1 || shown[0].(map[string]any)["status"] != "True" {
		t.Errorf("conditions %v, want ready", shown)
	}
}

func TestStatusCannotBeWritten(t *testing.T) {
	newTenant(t, "tenant-status")
	object := postgres("tenant-status", "db", nil)
	create(t, object)
	object.Object["status"] = map[string]any{"conditions": []any{}, "version": "9"}
	if err := cluster.Client.Status().Update(t.Context(), object); err == nil {
		t.Error("there is a status subresource")
	}
	if err := cluster.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	want(t, read(t, "tenant-status", "db"), nil, "status", "version")
	err := cluster.Client.DeleteAllOf(t.Context(), fixtures.Application("Postgres", "", ""), client.InNamespace("tenant-status"))
	if err == nil {
		t.Error("a whole collection was deleted")
	}
}
