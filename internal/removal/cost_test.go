package removal_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// TestDeepManifestsAreDecidedInTime has a manifest of 26 KB that is nested 500 levels deep:
// a tenant who commits it must not keep the operator from answering for the others.
func TestDeepManifestsAreDecidedInTime(t *testing.T) {
	deepest := map[string]any{}
	for i := range 2000 {
		deepest[fmt.Sprintf("k%d", i)] = "x"
	}
	for range 500 {
		deepest = map[string]any{"a": deepest}
	}
	s := merging(t, nil)
	applied := &unstructured.Unstructured{Object: withContent(map[string]any{"custom": deepest})}
	applied.SetName("db")
	merged, err := s.fields.Apply(s.live(), applied, flux, true)
	if err != nil {
		t.Fatal(err)
	}
	object := merged.(*unstructured.Unstructured)
	old := object.DeepCopy()
	old.SetManagedFields(nil)
	old.SetAnnotations(map[string]string{removal.Annotation: `{"f:spec":{"f:password":{}}}`})

	start := time.Now()
	removed := withSchema(t)(removal.Apply{Old: old, Object: object})
	if removed == nil || removed.Off != "" {
		t.Fatalf("not decided: %+v", removed)
	}
	// What the API server waits for the webhook.
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}
