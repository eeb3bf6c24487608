package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// runUntil runs an operator that dies at its n-th write until it is dead, or until done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := harness.DieAtWrite(n, harness.IsLastingWrite)
	return d.RunUntil(t, func() (*harness.Operator, error) {
		return harness.Start(t.Context(), cluster, harness.Config(), d.Wrap)
	}, done)
}

// TestKilledAtEachWrite kills an operator at its first write, the next one at
// its second, and so on: first while a tenant is enabled, then while it is taken
// down. Each time the next operator must come to the same end.
func TestKilledAtEachWrite(t *testing.T) {
	git := harness.NewGitServer(t)
	repository, commit := harness.NewRepository(t, git, "kill", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})

	const limit = 60
	for n := 1; ; n++ {
		if n > limit {
			t.Fatalf("after %d writes the operator has not come to its end", limit)
		}
		namespace := fmt.Sprintf("tenant-kill%d", n)
		harness.NewTenant(t, cluster.Client, namespace)
		source := harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository)
		harness.Write(t, cluster.Client, namespace, source)

		isApplied := func(context.Context) bool {
			tenant := harness.Read(t, cluster.Client, namespace)
			return len(tenant.Status.Sources) == 1 && tenant.Status.Sources[0].Ready == metav1.ConditionTrue &&
				tenant.Status.AppliedRevision != "" && tenant.Status.Applications == 1
		}
		diedUp := runUntil(t, n, isApplied)
		if diedUp {
			o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
			if err != nil {
				t.Fatal(err)
			}
			harness.AwaitApplied(t, cluster.Client, namespace, commit)
			if err := o.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		checkStamped(t, namespace)

		if err := cluster.Client.Delete(t.Context(), tenantGitOps(namespace)); err != nil {
			t.Fatal(err)
		}
		isGone := func(context.Context) bool { return !exists(t, tenantGitOps(namespace)) }
		diedDown := runUntil(t, n, isGone)
		if diedDown {
			o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
			if err != nil {
				t.Fatal(err)
			}
			harness.AwaitGone(t, cluster.Client, tenantGitOps(namespace))
			if err := o.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if left := harness.Leftovers(t, cluster.Client, namespace); len(left) > 0 {
			t.Errorf("killed at write %d of the teardown: left behind: %v", n, left)
		}
		if !exists(t, fixtures.Application("Postgres", namespace, "db")) {
			t.Errorf("killed at write %d of the teardown: the application is gone", n)
		}
		left := fixtures.Application("Postgres", namespace, "db")
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(left), left); err != nil {
			t.Fatal(err)
		}
		if key, named := ownership.Owner(left.GetLabels()); named {
			t.Errorf("killed at write %d of the teardown: the application has the labels of %s", n, key)
		}
		if !diedUp && !diedDown {
			t.Logf("killed at each of the first %d writes up and down", n-1)
			return
		}
	}
}

// checkStamped looks that all that belongs to a tenant is there, once.
func checkStamped(t *testing.T, namespace string) {
	t.Helper()
	for _, want := range []struct {
		list  client.ObjectList
		count int
	}{
		{&corev1.ServiceAccountList{}, 2},
		{&rbacv1.RoleList{}, 2},
		{&rbacv1.RoleBindingList{}, 3},
		{&appsv1.DeploymentList{}, 1},
		{&networkingv1.NetworkPolicyList{}, 1},
		{&sourcev1.GitRepositoryList{}, 1},
		{&kustomizev1.KustomizationList{}, 1},
	} {
		if err := cluster.Client.List(t.Context(), want.list, client.MatchingLabels{stamp.TenantLabel: namespace}); err != nil {
			t.Fatal(err)
		}
		if got := len(items(t, want.list)); got != want.count {
			t.Errorf("%s: %d in %T, want %d", namespace, got, want.list, want.count)
		}
	}
}
