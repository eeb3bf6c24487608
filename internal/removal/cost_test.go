package removal_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// TestDepthCostsLittle has a small manifest that is nested deep, and counts allocations:
// with one for each key and level, 26 KB of a tenant's kept the operator busy for half a
// minute, and from answering for the others.
func TestDepthCostsLittle(t *testing.T) {
	flat, deep := allocationsAt(t, 10), allocationsAt(t, 500)
	t.Logf("allocations: %.0f at 10 levels, %.0f at 500", flat, deep)
	if deep > 3*flat {
		t.Errorf("%.0f allocations at 500 levels, %.0f at 10", deep, flat)
	}
}

// allocationsAt counts the allocations of a decision about 2000 keys, so many levels deep.
func allocationsAt(t *testing.T, levels int) float64 {
	t.Helper()
	deepest := map[string]any{}
	for i := range 2000 {
		deepest[fmt.Sprintf("k%d", i)] = "x"
	}
	for range levels {
		deepest = map[string]any{"a": deepest}
	}
	decide := withSchema(t)
	s := merging(t, decide)
	s.apply(t, withContent(map[string]any{"password": "a"}))
	applied := &unstructured.Unstructured{Object: withContent(map[string]any{"custom": deepest})}
	applied.SetName("db")
	merged, err := s.fields.Apply(s.live(), applied, flux, true)
	if err != nil {
		t.Fatal(err)
	}
	object := merged.(*unstructured.Unstructured)
	return testing.AllocsPerRun(1, func() {
		removed := decide(removal.Apply{Old: s.stored, Object: object})
		if removed == nil || removed.Off != "" {
			t.Fatalf("not decided: %+v", removed)
		}
		if password, stays, _ := unstructured.NestedString(removed.Object.Object, "spec", "password"); stays {
			t.Fatalf("what left git stays: %q", password)
		}
	})
}
