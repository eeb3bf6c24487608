package isolation_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

// annotated sets an annotation, or takes it away where the value is empty.
func annotated(value string) attempts.Change {
	return func(o *object) {
		annotations := o.GetAnnotations()
		delete(annotations, oversize.HeldAnnotation)
		if value != "" {
			annotations = map[string]string{oversize.HeldAnnotation: value}
		}
		o.SetAnnotations(annotations)
	}
}

func both(changes ...attempts.Change) attempts.Change {
	return func(o *object) {
		for _, change := range changes {
			change(o)
		}
	}
}

// heldEscapes are of a source that the operator holds.
var heldEscapes = []attempts.Attempt{
	{Name: "resume it", Change: attempts.Field("spec.suspend", false), Mend: "change url, ref or ignore"},
	{Name: "resume it by leaving suspend out", Change: attempts.Without("spec.suspend"), Mend: "change url, ref or ignore"},
	{Name: "take the annotation off", Change: annotated(""), Mend: "change url, ref or ignore"},
	{Name: "do both", Change: both(annotated(""), attempts.Without("spec.suspend")), Mend: "change url, ref or ignore"},
	{Name: "resume it with another interval", Change: both(attempts.Without("spec.suspend"), attempts.Field("spec.interval", "11m")), Mend: "change url, ref or ignore"},
	{Name: "resume it with another Secret", Change: both(attempts.Without("spec.suspend"), attempts.Field("spec.secretRef", attempts.Named("login.gitops"))), Mend: "change url, ref or ignore"},
	{Name: "another annotation", Change: annotated("else"), Mend: "leave it as it is"},
	{Name: "another annotation with another ref", Change: both(annotated("else"), attempts.Field("spec.ref", map[string]any{"tag": "2"})), Mend: "leave it as it is"},
}

// anotherTry are writes that give a source that is held another try.
var anotherTry = map[string]attempts.Change{
	"another url":    both(annotated(""), attempts.Without("spec.suspend"), func(o *object) { attempts.Set(o, o.Object["spec"].(map[string]any)["url"].(string)+"2", "spec", "url") }),
	"another ref":    both(attempts.Without("spec.suspend"), attempts.Field("spec.ref", map[string]any{"tag": "2"})),
	"another ignore": both(attempts.Field("spec.suspend", false), attempts.Field("spec.ignore", "*.bin")),
	"only the ref":   attempts.Field("spec.ref", map[string]any{"tag": "2"}),
}

// tryHeld tries everything with a source that the operator, for whom an admin stands
// here, holds; and what is allowed all the same.
func tryHeld(t *testing.T, good *unstructured.Unstructured, more map[string]attempts.Change) {
	t.Helper()
	person := newTenantAdmin(t, good.GetNamespace())
	tryAll(t, person, good, []attempts.Attempt{
		{Name: "claim that it is held", Change: annotated("a"), Mend: "the operator's"},
	})
	held := good.DeepCopy()
	annotated("digest")(held)
	createGood(t, cluster.Client, held)
	for _, way := range []string{"update", "patch", "apply"} {
		for _, attempt := range heldEscapes {
			t.Run(attempt.Name+"/"+way, func(t *testing.T) {
				err := write(t.Context(), way, person, held, attempt.Change)
				if !saysMend(err, attempt.Mend) {
					t.Errorf("the answer should be a policy's, with %q; it was: %v", attempt.Mend, err)
				}
				if err := write(t.Context(), way, cluster.Client, held, attempt.Change); err != nil {
					t.Errorf("an admin of the platform: %v", err)
				}
			})
		}
		for _, changes := range []map[string]attempts.Change{anotherTry, more, {"a label": attempts.Label("team", "acme"), "Flux's finalizer": attempts.WithFinalizer("finalizers.fluxcd.io")}} {
			for name, change := range changes {
				t.Run(name+"/"+way, func(t *testing.T) {
					if err := write(t.Context(), way, person, held, change); err != nil {
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
	tryHeld(t, attempts.GitRepository("tenant-heldgit"), map[string]attempts.Change{
		"submodules":        both(attempts.Without("spec.suspend"), attempts.Field("spec.recurseSubmodules", true)),
		"a sparse checkout": both(attempts.Without("spec.suspend"), attempts.Field("spec.sparseCheckout", []any{"apps"})),
	})
}

func TestHeldOCIRepositoryStaysHeld(t *testing.T) {
	tryHeld(t, attempts.OCIRepository("tenant-heldoci"), map[string]attempts.Change{
		"another layer": both(attempts.Without("spec.suspend"), attempts.Field("spec.layerSelector", map[string]any{"mediaType": "application/x"})),
	})
}
