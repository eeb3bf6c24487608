package customizer_test

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// TestProfileIsInstalledAndTakenBack: ClusterAdmin needs a right of the operator that an admin
// gives it, and a Customizer that is held to less holds no more from then on.
func TestProfileIsInstalledAndTakenBack(t *testing.T) {
	const name = "profile"
	definition := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: acme-profile}\nrules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]\n"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": definition})
	c.Spec.RBAC.Profile = gitopsv1.ProfileClusterAdmin
	c.Spec.RBAC.OwnedNamespaces = []string{"acme-profile"}
	create(t, c)
	refused := awaitState(t, name, metav1.ConditionFalse, gitopsv1.ReasonProfileNotInstalled, "config/customizer-cluster-admin")
	if refused.Status.Revision != "" {
		t.Error("it was fetched before its account had its rights")
	}
	if err := manifests.ApplyPaths(t.Context(), cluster.Client, root+"/config/customizer-cluster-admin"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, o := range []client.Object{&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}} {
			o.SetName("gitops-operator-customizer-cluster-admin")
			if err := cluster.Client.Delete(context.Background(), o); err != nil {
				t.Error(err)
			}
		}
	})
	request(t, name)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	wantThere(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "acme-profile"}})

	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.RBAC.Profile = gitopsv1.ProfileCurated })
	binding := &rbacv1.ClusterRoleBinding{}
	harness.Await(t, "the binding of the profile Curated", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKey{Name: read(t, name).Status.Account}, binding)
		return err == nil && binding.RoleRef.Name == customizer.CuratedRole, binding.RoleRef.Name
	})
	awaitState(t, name, metav1.ConditionFalse, "ReconciliationFailed", "clusterroles", "forbidden", "the profile Curated may not")
}
