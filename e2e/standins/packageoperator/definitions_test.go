package main

import (
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// status is the schema of a Package's status.
func status(definition *apiextensionsv1.CustomResourceDefinition) map[string]apiextensionsv1.JSONSchemaProps {
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties
}

func TestDefinitionsAreAppliedByForceAtEachStart(t *testing.T) {
	definition := &apiextensionsv1.CustomResourceDefinition{}
	key := client.ObjectKey{Name: "packages.cozystack.io"}
	if err := cluster.Client.Get(t.Context(), key, definition); err != nil {
		t.Fatal(err)
	}
	version := &definition.Spec.Versions[0]
	columns := len(version.AdditionalPrinterColumns)
	version.AdditionalPrinterColumns = append(version.AdditionalPrinterColumns, apiextensionsv1.CustomResourceColumnDefinition{
		Name: "Overridden", Type: "string", JSONPath: ".status.overridden",
	})
	status(definition)["overridden"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	if err := cluster.Client.Update(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Get(t.Context(), key, definition); err != nil {
		t.Fatal(err)
	}
	if _, found := status(definition)["overridden"]; !found {
		t.Fatal("the change was not stored")
	}
	if err := cluster.StartPackageOperator(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Get(t.Context(), key, definition); err != nil {
		t.Fatal(err)
	}
	if _, found := status(definition)["overridden"]; found || len(definition.Spec.Versions[0].AdditionalPrinterColumns) != columns {
		t.Errorf("status has properties %v, columns are %v", status(definition), definition.Spec.Versions[0].AdditionalPrinterColumns)
	}
}

func TestWhatTheSchemaDoesNotNameIsPruned(t *testing.T) {
	pkg, _ := newInstalled(t, "pruned", "{unknown: x, components: {pruned: {unknown: x, values: {unknown: {deep: x}}}}}")
	want(t, read(t, pkg), map[string]any{"components": map[string]any{"pruned": map[string]any{"values": map[string]any{"unknown": map[string]any{"deep": "x"}}}}}, "spec")
	changeStatus(t, pkg, "status: {unknown: x, dependencies: {a: {ready: false, unknown: x}}}")
	for _, path := range [][]string{{"status", "unknown"}, {"status", "dependencies", "a", "unknown"}} {
		want(t, pkg, nil, path...)
	}
}

func TestMessagesOfConditionsAreBounded(t *testing.T) {
	pkg := create(t, "Package", "bounded", "spec: {}")
	awaitReady(t, "bounded", metav1.ConditionFalse, "PackageSourceNotFound")
	for length, taken := range map[int]bool{32768: true, 32769: false} {
		patch := mergePatch(t, fmt.Sprintf(`status: {conditions: [{type: Long, status: "True", reason: Long, message: %s, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`, strings.Repeat("x", length)))
		if err := cluster.Client.Status().Patch(t.Context(), pkg, patch); (err == nil) != taken {
			t.Errorf("a message of %d bytes: %v, want taken: %t", length, err, taken)
		}
	}
}
