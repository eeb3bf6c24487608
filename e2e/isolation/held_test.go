package isolation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/oversize"
)

// annotated sets an annotation, or takes it away where the value is empty.
func annotated(value string) change {
	return func(o *object) {
		annotations := o.GetAnnotations()
		delete(annotations, oversize.HeldAnnotation)
		if value != "" {
			annotations = map[string]string{oversize.HeldAnnotation: value}
		}
		o.SetAnnotations(annotations)
	}
}

func both(changes ...change) change {
	return func(o *object) {
		for _, change := range changes {
			change(o)
		}
	}
}

// heldEscapes are of a source that the operator holds.
var heldEscapes = []attempt{
	{name: "resume it", change: field("spec.suspend", false), mend: "change url, ref or ignore"},
	{name: "resume it by leaving suspend out", change: without("spec.suspend"), mend: "change url, ref or ignore"},
	{name: "take the annotation off", change: annotated(""), mend: "change url, ref or ignore"},
	{name: "do both", change: both(annotated(""), without("spec.suspend")), mend: "change url, ref or ignore"},
	{name: "resume it with another interval", change: both(without("spec.suspend"), field("spec.interval", "11m")), mend: "change url, ref or ignore"},
	{name: "resume it with another Secret", change: both(without("spec.suspend"), field("spec.secretRef", secretNamed("login.gitops"))), mend: "change url, ref or ignore"},
	{name: "another annotation", change: annotated("else"), mend: "leave it as it is"},
	{name: "another annotation with another ref", change: both(annotated("else"), field("spec.ref", map[string]any{"tag": "2"})), mend: "leave it as it is"},
}

// anotherTry are writes that give a source that is held another try.
var anotherTry = map[string]change{
	"another url":    both(annotated(""), without("spec.suspend"), func(o *object) { set(o, o.Object["spec"].(map[string]any)["url"].(string)+"2", "spec", "url") }),
	"another ref":    both(without("spec.suspend"), field("spec.ref", map[string]any{"tag": "2"})),
	"another ignore": both(field("spec.suspend", false), field("spec.ignore", "*.bin")),
	"only the ref":   field("spec.ref", map[string]any{"tag": "2"}),
}

// tryHeld tries everything with a source that the operator, for whom an admin stands
// here, holds; and what is allowed all the same.
func tryHeld(t *testing.T, good *unstructured.Unstructured, more map[string]change) {
	t.Helper()
	person := newTenantAdmin(t, good.GetNamespace())
	tryAll(t, person, good, []attempt{
		{name: "claim that it is held", change: annotated("a"), mend: "the operator's"},
	})
	held := good.DeepCopy()
	annotated("digest")(held)
	createGood(t, cluster.Client, held)
	for _, way := range []string{"update", "patch", "apply"} {
		for _, attempt := range heldEscapes {
			t.Run(attempt.name+"/"+way, func(t *testing.T) {
				err := ways[way](t.Context(), person, held, attempt.change)
				if !saysMend(err, attempt.mend) {
					t.Errorf("the answer should be a policy's, with %q; it was: %v", attempt.mend, err)
				}
				if err := ways[way](t.Context(), cluster.Client, held, attempt.change); err != nil {
					t.Errorf("an admin of the platform: %v", err)
				}
			})
		}
		for _, changes := range []map[string]change{anotherTry, more, {"a label": label("team", "acme"), "Flux's finalizer": withFinalizer("finalizers.fluxcd.io")}} {
			for name, change := range changes {
				t.Run(name+"/"+way, func(t *testing.T) {
					if err := ways[way](t.Context(), person, held, change); err != nil {
						t.Errorf("refused: %v", err)
					}
				})
			}
		}
	}
	if err := person.Delete(t.Context(), held, client.DryRunAll); err != nil {
		t.Errorf("it cannot be deleted: %v", err)
	}
}

func TestHeldGitRepositoryStaysHeld(t *testing.T) {
	tryHeld(t, goodGitRepository("tenant-heldgit"), map[string]change{
		"submodules":        both(without("spec.suspend"), field("spec.recurseSubmodules", true)),
		"a sparse checkout": both(without("spec.suspend"), field("spec.sparseCheckout", []any{"apps"})),
	})
}

func TestHeldOCIRepositoryStaysHeld(t *testing.T) {
	tryHeld(t, goodOCIRepository("tenant-heldoci"), map[string]change{
		"another layer": both(without("spec.suspend"), field("spec.layerSelector", map[string]any{"mediaType": "application/x"})),
	})
}
