package customizer_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestOwnedNamespaces: one that is there is left as it is, one that is deleted is made again,
// and one that leaves the list stays, without the rights.
func TestOwnedNamespaces(t *testing.T) {
	t.Parallel()
	const name, theirs, made = "owned", "acme-owned-theirs", "acme-owned-made"
	before := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs, Labels: map[string]string{"example.org/team": "acme"}}}
	if err := cluster.Client.Create(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	c, repository := newCustomizer(t, name, map[string]string{"a.yaml": configMap(theirs, "a"), "b.yaml": configMap(made, "b")})
	c.Spec.RBAC.OwnedNamespaces = []string{theirs, made}
	create(t, c)
	applied := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	after := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs}}
	wantThere(t, after)
	if after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the namespace that was there was written: %v", after.ManagedFields)
	}

	// Its binding goes with it, which the operator sees.
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: made}}
	wantThere(t, namespace)
	uid := namespace.UID
	if err := cluster.Client.Delete(t.Context(), namespace.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	awaitAnew(t, namespace, uid)
	request(t, name)
	harness.AwaitExists(t, cluster.Client, configMapOf(made, "b"))

	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.RBAC.OwnedNamespaces = []string{made} })
	harness.AwaitGone(t, cluster.Client, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: theirs, Name: applied.Status.Account}})
	push(t, name, repository, map[string]string{"a.yaml": configMap(theirs, "a2")})
	awaitState(t, name, metav1.ConditionFalse, "ReconciliationFailed", "forbidden", "list the namespace in spec.rbac.ownedNamespaces")
	wantThere(t, configMapOf(theirs, "a"))
}
