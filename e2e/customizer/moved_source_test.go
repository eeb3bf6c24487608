package customizer_test

import (
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSourceMovesToARegistryAndBack: the source of the other kind goes, and what was applied
// stays, also while there is nothing to be fetched.
func TestSourceMovesToARegistryAndBack(t *testing.T) {
	t.Parallel()
	const name = "moved"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": priorityClass("acme-moved", 1)})
	create(t, c)
	account := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-moved"}}
	wantThere(t, class)
	uid := class.UID
	git := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	oci := &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	wantThere(t, git)

	inGit := *c.Spec.Source.DeepCopy()
	change(t, c, func(spec *gitopsv1.CustomizerSpec) {
		// Nobody listens there.
		spec.Source = gitopsv1.CustomizerSource{OCI: &gitopsv1.OCISource{URL: "oci://127.0.0.1:1/acme/moved", Interval: inGit.Git.Interval}}
	})
	harness.AwaitExists(t, cluster.Client, oci)
	harness.AwaitGone(t, cluster.Client, git)
	awaitState(t, name, metav1.ConditionFalse, sourcev1.OCIPullFailedReason, "127.0.0.1:1")
	wantThere(t, class)

	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.Source = inGit })
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	harness.AwaitGone(t, cluster.Client, oci)
	wantThere(t, class)
	if class.UID != uid {
		t.Error("the class is another one")
	}
}
