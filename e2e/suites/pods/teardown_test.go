//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// namespaceLimit is how long a tenant's namespace may take to go.
const namespaceLimit = 2 * time.Minute

// TestDeletedTenantGitOpsLeavesTheApplications switches GitOps off again.
func TestDeletedTenantGitOpsLeavesTheApplications(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-leave"
	_, commit := stage.Enable(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	deleted := harness.AwaitApplied(t, stage.Client, tenant, commit)
	app := fixtures.Application("Postgres", tenant, "db")
	harness.AwaitExists(t, stage.Client, app)
	uid := app.GetUID()
	if err := stage.Client.Delete(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, stage.Client, deleted)
	awaitNothingLeft(t, tenant)
	if err := stage.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil || app.GetUID() != uid || app.GetDeletionTimestamp() != nil {
		t.Errorf("the application is not left alone: %v, %+v", err, app)
	}
}

// TestDeletedNamespaceTerminates deletes the namespaces of several tenants at a time,
// with deletionPolicy Orphan and Delete side by side, twice.
func TestDeletedNamespaceTerminates(t *testing.T) {
	t.Parallel()
	for round := range 2 {
		commits := map[string]string{}
		for i := range 2 {
			for _, policy := range []string{"Orphan", "Delete"} {
				namespace := fmt.Sprintf("tenant-end%s%d%d", strings.ToLower(policy), round, i)
				_, commits[namespace] = stage.Enable(t, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, func(source *gitopsv1.Source) {
					source.DeletionPolicy = policy
				})
			}
		}
		var namespaces []string
		for namespace, commit := range commits {
			harness.AwaitApplied(t, stage.Client, namespace, commit)
			namespaces = append(namespaces, namespace)
		}
		deleteNamespaces(t, namespaces...)
	}
}

// deleteNamespaces deletes the namespaces of tenants together, and waits until they and
// all that was stamped for them are gone.
func deleteNamespaces(t *testing.T, namespaces ...string) {
	t.Helper()
	began := time.Now()
	for _, name := range namespaces {
		if err := stage.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range namespaces {
		harness.AwaitGone(t, stage.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	took := time.Since(began)
	t.Logf("%d namespaces gone after %s", len(namespaces), took.Round(100*time.Millisecond))
	if took > namespaceLimit {
		t.Errorf("the namespaces took %s to go", took)
	}
	for _, name := range namespaces {
		awaitNothingLeft(t, name)
	}
}

// awaitNothingLeft waits until nothing that is stamped for a tenant is there.
func awaitNothingLeft(t *testing.T, namespace string) {
	t.Helper()
	harness.Await(t, "nothing of "+namespace+" to be left", func(ctx context.Context) (bool, string) {
		var left []string
		for _, list := range []client.ObjectList{
			&corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}, &appsv1.DeploymentList{},
			&networkingv1.NetworkPolicyList{}, &corev1.PodList{}, &kustomizev1.KustomizationList{},
		} {
			if err := stage.Client.List(ctx, list, client.MatchingLabels{stamp.TenantLabel: namespace}); err != nil {
				return false, err.Error()
			}
			if count := apimeta.LenList(list); count > 0 {
				left = append(left, fmt.Sprintf("%d of %T", count, list))
			}
		}
		return len(left) == 0, strings.Join(left, ", ")
	})
}
