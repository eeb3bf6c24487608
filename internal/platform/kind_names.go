package platform

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// KindNames turns plural names of application kinds into the names of the kinds, by the
// ApplicationDefinitions. Those that no definition knows are returned beside them.
func KindNames(plurals []string, definitions []unstructured.Unstructured) (kinds, unknown []string) {
	names := map[string]string{}
	for _, definition := range definitions {
		plural, _, _ := unstructured.NestedString(definition.Object, "spec", "application", "plural")
		names[plural], _, _ = unstructured.NestedString(definition.Object, "spec", "application", "kind")
	}
	for _, plural := range plurals {
		if kind := names[plural]; kind != "" {
			kinds = append(kinds, kind)
		} else {
			unknown = append(unknown, plural)
		}
	}
	return kinds, unknown
}

// ServedKindNames does the same by what the API server says that it serves.
func ServedKindNames(plurals []string, served []metav1.APIResource) []string {
	var kinds []string
	for _, resource := range served {
		if slices.Contains(plurals, resource.Name) && !strings.Contains(resource.Name, "/") {
			kinds = append(kinds, resource.Kind)
		}
	}
	return kinds
}
