package tenantgitops_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestTenantGitOpsThatLostItsFinalizerIsTakenDown deletes a TenantGitOps whose finalizer
// somebody takes off, as its writer may, while the operator is stopped: what was stamped
// goes all the same, the application stays (with Delete too: it may have been an
// uninstallation by force), and the namespace can be deleted.
func TestTenantGitOpsThatLostItsFinalizerIsTakenDown(t *testing.T) {
	config := harness.Config()
	o := harness.WithOperator(t, cluster, config)
	git := harness.NewGitServer(t)
	const tenant, going = "tenant-lost", "tenant-lostgoing"
	applied(t, git, tenant, func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	applied(t, git, going, nil)
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{tenant, going} {
		noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		if err := cluster.Client.Patch(t.Context(), tenantGitOps(namespace), noFinalizers); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Client.Delete(t.Context(), tenantGitOps(namespace)); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, tenantGitOps(namespace))
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going}}
	if err := cluster.Client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, config)
	harness.AwaitGone(t, cluster.Client, namespace)
	for _, name := range []string{tenant, going} {
		harness.Await(t, "nothing of "+name+" to be left", func(context.Context) (bool, string) {
			left := harness.Leftovers(t, cluster.Client, name)
			return len(left) == 0, strings.Join(left, ", ")
		})
	}
	if !exists(t, fixtures.Application("Postgres", tenant, "db")) {
		t.Error("the application is gone")
	}
}
