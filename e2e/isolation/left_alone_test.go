package isolation_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
)

// What an admin left in a tenant's namespace stands for what was there before the install:
// it is as no tenant may write it.
func TestWhatWasThereBeforeCanBeAnnotatedFinalizedAndDeleted(t *testing.T) {
	const namespace = "tenant-before"
	person := newTenantAdmin(t, namespace)
	kustomization := attempts.Kustomization(namespace)
	kustomization.SetLabels(nil)
	attempts.WithFinalizer("example.org/before")(kustomization)
	source := attempts.GitRepository(namespace)
	attempts.Set(source, "https://10.0.0.1/apps", "spec", "url")
	attempts.WithFinalizer("example.org/before")(source)
	for _, old := range []*object{kustomization, source} {
		t.Run(old.GetKind(), func(t *testing.T) {
			if err := cluster.Client.Create(t.Context(), old); err != nil {
				t.Fatal(err)
			}
			write := func(what string, change attempts.Change) {
				stored, err := attempts.Read(t.Context(), person, old)
				if err != nil {
					t.Fatal(err)
				}
				changed := stored.DeepCopy()
				change(changed)
				if err := person.Patch(t.Context(), changed, client.MergeFrom(stored)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			write("annotate it", func(o *object) { o.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": "now"}) })
			stored, err := attempts.Read(t.Context(), person, old)
			if err != nil {
				t.Fatal(err)
			}
			changed := stored.DeepCopy()
			attempts.Set(changed, "11m", "spec", "interval")
			if err := person.Patch(t.Context(), changed, client.MergeFrom(stored), client.DryRunAll); !refused(err) {
				t.Errorf("a change of its spec was not refused: %v", err)
			}
			if err := person.Delete(t.Context(), old.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			write("release it", func(o *object) { o.SetFinalizers(nil) })
			if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old.DeepCopy()); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("it is still there: %v", err)
			}
		})
	}
}
