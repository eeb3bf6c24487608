package platform

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestKindNames(t *testing.T) {
	definition := func(kind, plural string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"application": map[string]any{"kind": kind, "plural": plural},
		}}}
	}
	definitions := []unstructured.Unstructured{definition("Postgres", "postgreses"), definition("Tenant", "tenants"), {Object: map[string]any{}}}
	kinds, unknown := KindNames([]string{"postgreses", "redises"}, definitions)
	if !slices.Equal(kinds, []string{"Postgres"}) || !slices.Equal(unknown, []string{"redises"}) {
		t.Errorf("got %v, and %v unknown", kinds, unknown)
	}
	served := []metav1.APIResource{{Name: "redises", Kind: "Redis"}, {Name: "redises/status", Kind: "Redis"}, {Name: "kafkas", Kind: "Kafka"}}
	if kinds := ServedKindNames(unknown, served); !slices.Equal(kinds, []string{"Redis"}) {
		t.Errorf("served are %v", kinds)
	}
}
