package confinement_test

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// TestStolenTokenOfTheAdminTier tries what config/customizer adds to the operator's rights, with
// the policies and without them, and compares with what is written down.
func TestStolenTokenOfTheAdminTier(t *testing.T) {
	admin := cluster.Client
	for _, obj := range platformObjects() {
		if err := admin.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	if err := harness.InstallCustomizer(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	// The other tests are about an operator without it.
	t.Cleanup(func() {
		for _, obj := range []client.Object{
			&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "gitops-operator-customizer"}},
			&rbacv1.RoleBinding{ObjectMeta: named(adminNamespace, "gitops-operator-customizer")},
		} {
			if err := admin.Delete(context.Background(), obj); err != nil {
				t.Error(err)
			}
		}
	})
	config, err := cluster.ServiceAccountConfig(t.Context(), "cozy-gitops", "gitops-operator")
	if err != nil {
		t.Fatal(err)
	}
	thief, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	awaitAdminPolicies(t, thief, "policy")
	on := walk(t, thief, adminTierAttempts())
	withoutPolicies(t)
	awaitAdminPolicies(t, thief, "open")
	off := walk(t, thief, adminTierAttempts())
	wantGolden(t, "testdata/stolen_token_admin_tier.golden", adminTierAttempts(), on, off)
}

// awaitAdminPolicies waits until each policy that holds the admin tier is in force, or none is,
// and with them until the roles are.
func awaitAdminPolicies(t *testing.T, thief client.Client, want string) {
	t.Helper()
	awaitVerdict(t, thief, want, []attempt{
		create("", clusterRoleBinding("theft", curatedRole, "{"+adminSubject+"}")),
		create("", clusterRole("theft", "", `{apiGroups: [gitops.cozystack.io], resources: [customizers], verbs: [get]}`)),
		create("", binding("default", adminAccount, "ClusterRole", ownedRole, adminNamespace, adminAccount)),
		create("", "{apiVersion: v1, kind: Namespace, metadata: {name: kube-theft}}"),
		create("", "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: cozy-system, name: theft}}"),
		create("", adminKustomization("theft", ", serviceAccountName: theft")),
		create("", source("theft")),
		remove("", platformKustomization),
		patch("", platformCustomizer, `{"spec":{"rbac":{"profile":"ClusterAdmin"}}}`),
	})
}
