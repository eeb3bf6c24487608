package customizer_test

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// TestTwoSideBySide: two Customizers have each an account, and each may do what its profile says.
func TestTwoSideBySide(t *testing.T) {
	t.Parallel()
	curated, _ := newCustomizer(t, "beside-curated", map[string]string{"a.yaml": priorityClass("acme-beside", 1)})
	create(t, curated)
	// It may override, and make no cluster resource.
	overrides, repository := newCustomizer(t, "beside-overrides", map[string]string{"a.yaml": packageValues("acme.beside"), "b.yaml": priorityClass("acme-beside-not", 1)})
	overrides.Spec.RBAC.Profile = gitopsv1.ProfileOverridesOnly
	create(t, overrides)

	one := awaitState(t, curated.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	other := awaitState(t, overrides.Name, metav1.ConditionFalse, "ReconciliationFailed",
		"priorityclasses.scheduling.k8s.io", "forbidden", "the profile OverridesOnly may write PackageValues only")
	if one.Status.Account == other.Status.Account {
		t.Errorf("both have the account %s", one.Status.Account)
	}
	for _, c := range []*gitopsv1.Customizer{one, other} {
		if account := c.Status.Account; account != customizer.FirstAccount && account != customizer.FirstAccount+"-"+c.Name {
			t.Errorf("%s has the account %s", c.Name, account)
		}
		binding := &rbacv1.ClusterRoleBinding{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: c.Status.Account}, binding); err != nil {
			t.Fatal(err)
		}
		if role := customizer.ProfileRole(c.Spec.RBAC.Profile); binding.RoleRef.Name != role {
			t.Errorf("%s is bound to %s, not to %s", c.Name, binding.RoleRef.Name, role)
		}
	}
	// Nothing is half applied: Flux tries all before it applies any.
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: "acme.beside"}, &cozyv1.PackageValues{}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("its PackageValues: %v", err)
	}
	commit := push(t, overrides.Name, repository, nil, "b.yaml")
	awaitApplied(t, overrides.Name, commit)
	wantThere(t, &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.beside"}})
}
