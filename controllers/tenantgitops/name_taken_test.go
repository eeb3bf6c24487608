package tenantgitops_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSomebodyElsesObjectIsLeftAlone finds objects of the names that the operator
// would give: one that belongs to a source, and one that the whole tenant needs.
func TestSomebodyElsesObjectIsLeftAlone(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-taken")
	repository := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"},
		Spec:       sourcev1.GitRepositorySpec{URL: "https://git.example.org/mallory/apps", Suspend: true, Interval: metav1.Duration{Duration: 3600e9}},
	}
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "kustomize-controller"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}
	if err := cluster.Client.Create(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Create(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))
	harness.AwaitCondition(t, cluster.Client, tenant, metav1.ConditionFalse, "NameTaken: cannot apply Role tenant-taken/kustomize-controller")

	if err := cluster.Client.Delete(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	harness.AwaitCondition(t, cluster.Client, tenant, metav1.ConditionFalse, "NameTaken: source apps: cannot apply GitRepository tenant-taken/gitops-apps")
	if !exists(t, repository) || repository.Spec.URL != "https://git.example.org/mallory/apps" {
		t.Errorf("somebody else's repository has been changed: %+v", repository.Spec)
	}

	if err := cluster.Client.Delete(t.Context(), tenantGitOps(tenant)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps(tenant))
	if !exists(t, repository) {
		t.Error("somebody else's repository has been deleted")
	}
}
