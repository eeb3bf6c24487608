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

// TestWidthCostsLittle has a manifest with more keys than can be remembered, and counts
// allocations: they were gone through several times before that showed.
func TestWidthCostsLittle(t *testing.T) {
	const keys = 20_000
	spec, fields := map[string]any{}, map[string]any{}
	for i := range keys {
		spec[fmt.Sprintf("key%d", i)] = "x"
		fields[fmt.Sprintf("f:key%d", i)] = map[string]any{}
	}
	object := &unstructured.Unstructured{Object: withContent(spec)}
	object.SetName("db")
	if err := unstructured.SetNestedSlice(object.Object, []any{map[string]any{
		"manager": "kustomize-controller", "operation": "Apply", "apiVersion": "apps.cozystack.io/v1alpha1",
		"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": fields},
	}}, "metadata", "managedFields"); err != nil {
		t.Fatal(err)
	}
	var off string
	allocations := testing.AllocsPerRun(1, func() {
		removed := removal.Decide(removal.Apply{Old: object, Object: object})
		if removed == nil {
			t.Fatal("not decided")
		}
		off = removed.Off
	})
	t.Logf("%.0f allocations for %d keys: %s", allocations, keys, off)
	if off == "" {
		t.Error("so many fields are remembered")
	}
	// Copying the object and reading its managed fields take three for each key.
	if allocations > 5*keys {
		t.Errorf("%.0f allocations for %d keys", allocations, keys)
	}
}
