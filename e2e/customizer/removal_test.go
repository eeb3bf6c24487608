package customizer_test

import (
	"context"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// leftovers are what is stamped for Customizers of this name.
func leftovers(t *testing.T, name string) []string {
	t.Helper()
	var left []string
	for _, list := range []client.ObjectList{
		&kustomizev1.KustomizationList{}, &sourcev1.GitRepositoryList{}, &sourcev1.OCIRepositoryList{}, &corev1.ServiceAccountList{},
		&rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.ClusterRoleList{},
	} {
		left = append(left, named(t, list, client.MatchingLabels{"gitops.cozystack.io/customizer": name})...)
	}
	return left
}

// TestRemovedAndMadeAgain: what was applied stays as it is, nothing else does but namespaces,
// and a Customizer of the same name has it again, twice over.
func TestRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	const name = "again"
	c, repository := newCustomizer(t, name, map[string]string{"a.yaml": priorityClass("acme-again", 1), "b.yaml": configMap("acme-again", "b"), "c.yaml": packageValues("acme.again")})
	c.Spec.RBAC.OwnedNamespaces = []string{"acme-again"}
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-again"}}
	for range 2 {
		create(t, c)
		awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
		wantThere(t, class)
		uid := class.UID
		remove(t, c)
		if left := leftovers(t, name); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
		wantThere(t, configMapOf("acme-again", "b"))
		wantThere(t, class)
		if class.UID != uid {
			t.Error("the class is another one")
		}
		c = c.DeepCopy()
		c.ObjectMeta = metav1.ObjectMeta{Name: name}
		c.Status = gitopsv1.CustomizerStatus{}
	}
	create(t, c)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	// It owns what it left behind.
	commit := push(t, name, repository, nil, "a.yaml")
	awaitApplied(t, name, commit)
	harness.AwaitGone(t, cluster.Client, class)
}

// TestRemovedWithWhatItApplied: only where the policy says so, and with the policy of the last
// moment.
func TestRemovedWithWhatItApplied(t *testing.T) {
	t.Parallel()
	const name = "delete"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": priorityClass("acme-delete", 1)})
	create(t, c)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-delete"}}
	wantThere(t, class)
	change(t, c, func(spec *gitopsv1.CustomizerSpec) {
		spec.Kustomization.DeletionPolicy = kustomizev1.DeletionPolicyWaitForTermination
	})
	remove(t, c)
	harness.AwaitGone(t, cluster.Client, class)
	if left := leftovers(t, name); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestRemovedWithoutFlux: a Kustomization that deletes nothing is not waited for when nobody
// comes to release it. The shard label keeps Flux away.
func TestRemovedWithoutFlux(t *testing.T) {
	t.Parallel()
	const name = "no-flux"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": priorityClass("acme-no-flux", 1)})
	create(t, c)
	account := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	wantThere(t, k)
	changed := k.DeepCopy()
	changed.Labels["sharding.fluxcd.io/key"] = "nobody"
	if err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(k)); err != nil {
		t.Fatal(err)
	}
	remove(t, c)
	wantThere(t, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-no-flux"}})
	harness.Await(t, "an event that the finalizer was released", func(ctx context.Context) (bool, string) {
		return len(eventsOf(ctx, t, name, gitopsv1.ReasonFinalizerReleased)) == 1, "none"
	})
}
