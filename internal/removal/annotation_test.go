package removal_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// many are parameters, each of which takes 22 bytes and more to remember.
func many(count int) map[string]any {
	parameters := map[string]any{}
	for i := range count {
		parameters[fmt.Sprintf("parameter-%06d", i)] = "x"
	}
	return map[string]any{"parameters": parameters}
}

func TestRemovalIsOffWhereTheAnnotationDoesNotFit(t *testing.T) {
	note := strings.Repeat("x", 252<<10)
	for name, large := range map[string]map[string]any{
		"the annotation":  withContent(many(2000)),
		"all annotations": parse(t, `{metadata: {annotations: {note: `+note+`}}, spec: {password: a}}`),
		"the object":      withContent(map[string]any{"custom": strings.Repeat("x", 2<<20)}),
	} {
		t.Run(name, func(t *testing.T) {
			s := merging(t, withSchema(t))
			s.apply(t, parse(t, `spec: {password: a, users: {ann: {password: b}}}`))
			s.apply(t, large)
			// Nothing is removed any longer, and nothing breaks.
			spec := s.content().Spec
			if _, stays := spec["users"]; !stays {
				t.Errorf("removed while removal is off: %v", spec["users"])
			}
			kept := s.stored.GetAnnotations()[removal.Annotation]
			if len(kept) > 200 || !strings.Contains(kept, "more than") {
				t.Errorf("the annotation says %.300q", kept)
			}
			tracked, off := removal.Tracking(map[string]string{removal.ReleaseAnnotation: kept})
			if tracked || !strings.Contains(off, "more than") {
				t.Errorf("tracked %v, off %q", tracked, off)
			}
			wantBounded(t, s.stored)

			// When it fits again, which takes another hand where what was too much has stayed
			// behind, it begins as with an adoption.
			s.edit(t, []byte(`{"metadata": {"annotations": {"note": null}}, "spec": {"custom": null}}`))
			s.apply(t, parse(t, `spec: {password: c}`))
			if _, stays := s.content().Spec["users"]; !stays {
				t.Error("removed by what was forgotten")
			}
			if tracked, off := removal.Tracking(map[string]string{removal.ReleaseAnnotation: s.stored.GetAnnotations()[removal.Annotation]}); !tracked || off != "" {
				t.Errorf("tracked %v, off %q", tracked, off)
			}
			s.apply(t, parse(t, `spec: {size: 1Gi}`))
			if password, stays := s.content().Spec["password"]; stays {
				t.Errorf("the password stays: %v", password)
			}
		})
	}
}

// TestAnnotationNeverExceedsItsBounds goes through the sizes around them.
func TestAnnotationNeverExceedsItsBounds(t *testing.T) {
	offSeen, onSeen := false, false
	for count := 1200; count < 1700; count += 31 {
		s := merging(t, withSchema(t))
		s.apply(t, withContent(many(count)))
		wantBounded(t, s.stored)
		if strings.HasPrefix(s.stored.GetAnnotations()[removal.Annotation], "off: ") {
			offSeen = true
		} else {
			onSeen = true
		}
	}
	if !offSeen || !onSeen {
		t.Errorf("off %v, on %v: the sizes are not around the bound", offSeen, onSeen)
	}
}

func wantBounded(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	total := 0
	for key, value := range object.GetAnnotations() {
		total += len("apps.cozystack.io-"+key) + len(value)
	}
	if total > 256<<10 {
		t.Errorf("%d bytes of annotations on the HelmRelease", total)
	}
	if kept := object.GetAnnotations()[removal.Annotation]; len(kept) > 32<<10 {
		t.Errorf("%d bytes of annotation", len(kept))
	}
}

// TestWhatIsNotWrittenDownIsNotRemoved has others write into the annotation.
func TestWhatIsNotWrittenDownIsNotRemoved(t *testing.T) {
	for _, kept := range []string{
		"", "{", "null", "[]", `"f:spec"`, `{"f:spec":1}`, `{"k:{}":{}}`, `{"x":{}}`, `{"f:kind":{},"f:apiVersion":{}}`,
		`{"f:metadata":{"f:name":{},"f:namespace":{},"f:uid":{},"f:annotations":{"f:gitops.cozystack.io/applied":{}}}}`,
		`{"f:spec":{"i:0":{},"v:1":{},"k:{\"name\":1}":{}}}`, `{"f:spec":{".":{}},"f:metadata":{".":{},"f:labels":{".":{}}}}`,
		strings.Repeat(`{"f:spec":`, 3000) + strings.Repeat("}", 3000), "off: too large",
		ofDB(`"f:kind":{},"f:apiVersion":{}`), ofDB(`"f:spec":{"i:0":{},"v:1":{},"k:{\"name\":1}":{}}`), ofDB(`"f:spec":{".":{}}`),
		ofDB(`"f:spec":` + strings.Repeat(`{"f:spec":`, 3000) + strings.Repeat("}", 3000)),
	} {
		s := merging(t, withSchema(t))
		s.apply(t, parse(t, `{metadata: {labels: {team: a}}, spec: {password: a}}`))
		s.stored.SetAnnotations(map[string]string{removal.Annotation: kept})
		want := s.content()
		s.apply(t, parse(t, `{metadata: {labels: {team: a}}, spec: {password: a}}`))
		if got := s.content(); !reflect.DeepEqual(got, want) {
			t.Errorf("by %.80q it became\n%s\nand was\n%s", kept, text(t, got), text(t, want))
		}
		if s.stored.GetName() != "db" || s.stored.GetKind() != kind.Kind || !strings.HasPrefix(s.stored.GetAnnotations()[removal.Annotation], `{"f:metadata"`) {
			t.Errorf("by %.80q: %s", kept, text(t, s.stored))
		}
	}
}

// ofDB is what is kept of these fields for the application of the tests.
func ofDB(fields string) string {
	return `{"f:metadata":{"f:name":{"v:\"Postgres//db\"":{}}},` + fields + `}`
}

// TestCopiedAnnotationIsNotBelieved adopts an application that somebody made out of
// another one by hand, with its annotations.
func TestCopiedAnnotationIsNotBelieved(t *testing.T) {
	for name, copied := range map[string]func(*unstructured.Unstructured){
		"of another name":      func(object *unstructured.Unstructured) { object.SetName("other") },
		"of another namespace": func(object *unstructured.Unstructured) { object.SetNamespace("tenant-other") },
		"of another kind":      func(object *unstructured.Unstructured) { object.SetKind("MariaDB") },
	} {
		t.Run(name, func(t *testing.T) {
			s := merging(t, withSchema(t))
			s.apply(t, parse(t, `{metadata: {labels: {team: a}}, spec: {password: a, size: 1Gi}}`))
			theirs := s.stored.DeepCopy()
			copied(theirs)
			applied := withManager(theirs, flux, "Apply")
			removed := withSchema(t)(removal.Apply{Old: theirs, Object: applied})
			if removed == nil || removed.Off != "" {
				t.Fatalf("not decided: %+v", removed)
			}
			if !reflect.DeepEqual(removed.Object.Object["spec"], theirs.Object["spec"]) || removed.Object.GetLabels()["team"] != "a" {
				t.Errorf("adopting it took something out: %s", text(t, removed.Object))
			}
		})
	}
}

// FuzzAnnotation has anything in the annotation: it never breaks an apply, and what git
// applies now is never removed.
func FuzzAnnotation(f *testing.F) {
	f.Add(ofDB(`"f:spec":{"f:password":{},"f:databases":{"k:{\"name\":\"one\"}":{".":{},"f:owner":{}}}}`))
	f.Add(ofDB(`"f:spec":{"f:extensions":{"v:\"a\"":{}},"f:users":{".":{},"f:ann":{}}}`))
	f.Add(`{"f:metadata":{"f:labels":{"f:team":{}},"f:name":{"v:\"Postgres//db\"":{}}},"f:spec":{"f:extensions":{}}}`)
	f.Fuzz(func(t *testing.T, kept string) {
		content := parse(t, `{metadata: {labels: {team: a}}, spec: {password: a, extensions: [a], databases: [{name: one, owner: x}], users: {ann: {}}}}`)
		s := merging(t, withSchema(t))
		s.apply(t, content)
		want := s.content()
		annotations := s.stored.GetAnnotations()
		annotations[removal.Annotation] = kept
		s.stored.SetAnnotations(annotations)
		s.apply(t, content)
		if got := s.content(); !reflect.DeepEqual(got, want) {
			t.Errorf("by %q it became\n%s\nand was\n%s", kept, text(t, got), text(t, want))
		}
	})
}

func TestOnlyAppliesOfFluxAreLookedAt(t *testing.T) {
	s := merging(t, withSchema(t))
	s.apply(t, parse(t, `spec: {password: a, size: 1Gi}`))
	written := s.stored.DeepCopy()
	for name, object := range map[string]*unstructured.Unstructured{
		"no managed fields": written,
		"another's apply":   withManager(written, "kubectl", "Apply"),
		"an update":         withManager(written, "kustomize-controller", "Update"),
	} {
		if removed := removal.Decide(removal.Apply{Old: written, Object: object}); removed != nil {
			t.Errorf("%s: decided about", name)
		}
	}
	if removed := removal.Decide(removal.Apply{Old: written, Object: withManager(written, "kustomize-controller", "Apply")}); removed == nil {
		t.Error("an apply of Flux's is passed over")
	}
}

func withManager(object *unstructured.Unstructured, name, operation string) *unstructured.Unstructured {
	copied := object.DeepCopy()
	_ = unstructured.SetNestedSlice(copied.Object, []any{map[string]any{
		"manager": name, "operation": operation, "apiVersion": "apps.cozystack.io/v1alpha1", "fieldsType": "FieldsV1",
		"fieldsV1": map[string]any{"f:spec": map[string]any{"f:size": map[string]any{}}},
	}}, "metadata", "managedFields")
	return copied
}
