package removal_test

import (
	"encoding/json"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cozystack/gitops-operator/internal/removal"
	"github.com/cozystack/gitops-operator/internal/removal/removals"
)

const flux = "kustomize-controller"

var kind = runtimeschema.GroupVersionKind{Group: "apps.cozystack.io", Version: "v1alpha1", Kind: "Postgres"}

// server is as much of an API server as an application meets: its field manager, the
// defaults of its schema, and whether it stores managed fields.
type server struct {
	fields     *managedfields.FieldManager
	structural *structuralschema.Structural
	// removal is asked at admission where managed fields are not stored.
	removal func(removal.Apply) *removal.Removed
	stored  *unstructured.Unstructured
}

// The table's schema, read once, as the API server and as removal has it.
var (
	readStructural = sync.OnceValues(removals.Structural)
	readSchema     = sync.OnceValues(func() (*removal.Schema, error) { return removal.ParseSchema(removals.Schema) })
)

func structural(t testing.TB) *structuralschema.Structural {
	t.Helper()
	known, err := readStructural()
	if err != nil {
		t.Fatal(err)
	}
	return known
}

// customResources serves applications as custom resources.
func customResources(t testing.TB) *server {
	t.Helper()
	known := structural(t)
	texts := spec.MapProperty(spec.StringProperty())
	metadata := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"labels": *texts, "annotations": *texts,
	}}}
	metadata.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	model := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": *spec.StringProperty(), "kind": *spec.StringProperty(), "spec": *known.ToKubeOpenAPI(),
		"metadata": metadata,
	}}}
	model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{"postgres": model}, false)
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, converter)
}

// merging is an aggregated API server that knows the schema's rules for lists, and one
// that takes lists as a whole.
func merging(t testing.TB, decide func(removal.Apply) *removal.Removed) *server {
	t.Helper()
	s := customResources(t)
	s.removal = decide
	return s
}

func replacing(t testing.TB, decide func(removal.Apply) *removal.Removed) *server {
	t.Helper()
	s := newServer(t, managedfields.NewDeducedTypeConverter())
	s.removal = decide
	return s
}

func newServer(t testing.TB, converter managedfields.TypeConverter) *server {
	t.Helper()
	fields, err := managedfields.NewDefaultCRDFieldManager(converter, sameVersion{}, nothing{}, creater{}, kind, kind.GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &server{fields: fields, structural: structural(t)}
}

// withSchema decides by the table's schema.
func withSchema(t testing.TB) func(removal.Apply) *removal.Removed {
	t.Helper()
	parsed, err := readSchema()
	if err != nil {
		t.Fatal(err)
	}
	return func(apply removal.Apply) *removal.Removed {
		apply.Schema = parsed
		return removal.Decide(apply)
	}
}

// apply is what Flux does: by force, and, as it tries first and the try is stored, twice.
func (s *server) apply(t testing.TB, content map[string]any) {
	t.Helper()
	for range 2 {
		live := s.live()
		applied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
		applied.SetGroupVersionKind(kind)
		applied.SetName("db")
		merged, err := s.fields.Apply(live, applied, flux, true)
		if err != nil {
			t.Fatalf("apply %v: %v", content, err)
		}
		if merged == nil {
			merged = live
		}
		s.store(t, merged.(*unstructured.Unstructured))
	}
}

// edit is another hand's update.
func (s *server) edit(t testing.TB, patch []byte) {
	t.Helper()
	live := s.live()
	before, err := json.Marshal(live)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		t.Fatal(err)
	}
	edited := &unstructured.Unstructured{}
	if err := edited.UnmarshalJSON(after); err != nil {
		t.Fatal(err)
	}
	s.store(t, s.fields.UpdateNoErrors(live, edited, "console").(*unstructured.Unstructured))
}

func (s *server) live() *unstructured.Unstructured {
	if s.stored != nil {
		return s.stored.DeepCopy()
	}
	empty := &unstructured.Unstructured{Object: map[string]any{}}
	empty.SetGroupVersionKind(kind)
	empty.SetName("db")
	return empty
}

func (s *server) store(t testing.TB, object *unstructured.Unstructured) {
	t.Helper()
	s.setDefaults(object)
	if s.removal != nil {
		if removed := s.removal(removal.Apply{Old: s.stored, Object: object}); removed != nil {
			object = removed.Object
		}
		object.SetManagedFields(nil)
		s.setDefaults(object)
	}
	object.SetUID(types.UID("stored"))
	s.stored = object
}

func (s *server) setDefaults(object *unstructured.Unstructured) {
	if object.Object["spec"] == nil {
		object.Object["spec"] = map[string]any{}
	}
	defaulting.Default(object.Object["spec"], s.structural)
}

// content is what can be compared of what is stored.
func (s *server) content() removals.Content { return removals.ContentOf(s.stored) }

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	object, err := removals.Object(text)
	if err != nil {
		t.Fatal(err)
	}
	return object.Object
}

type (
	sameVersion struct{}
	nothing     struct{}
	creater     struct{}
)

func (sameVersion) Convert(_, _, _ any) error { return nil }

func (sameVersion) ConvertToVersion(object runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return object, nil
}

func (sameVersion) ConvertFieldLabel(_ runtimeschema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (nothing) Default(runtime.Object) {}

func (creater) New(runtimeschema.GroupVersionKind) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: map[string]any{}}, nil
}
