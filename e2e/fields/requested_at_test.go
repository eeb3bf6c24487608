package fields_test

import (
	"context"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestRequestedReconciliation asks twice for a reconciliation: each time the request
// is acknowledged, and handed on to the source and then to what applies it.
func TestRequestedReconciliation(t *testing.T) {
	namespace := newTenant(t, "tenant-requested")
	repository, commit := newRepository(t, "acme/requested", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	write(t, namespace, fromGit(t, namespace, "apps", repository))
	awaitSourceApplied(t, namespace, "apps", commit)

	before := ""
	for replicas := 2; replicas <= 3; replicas++ {
		commit = harness.Commit(t, repository, map[string]string{"app.yaml": fixtures.Redis("app", replicas)})
		harness.Request(t, cluster.Client, namespace)
		awaitHandled(t, namespace)
		awaitSourceApplied(t, namespace, "apps", commit)
		harness.Await(t, "Flux to have been asked again", func(context.Context) (bool, string) {
			fetched, applied := gitRepository(t, namespace, "apps"), kustomization(t, namespace, "apps")
			asked := fetched.Annotations[meta.ReconcileRequestAnnotation]
			return asked != before && fetched.Status.LastHandledReconcileAt == asked &&
				applied.Annotations[meta.ReconcileRequestAnnotation] == applied.Status.LastHandledReconcileAt && applied.Status.LastHandledReconcileAt != "", asked
		})
		before = gitRepository(t, namespace, "apps").Annotations[meta.ReconcileRequestAnnotation]
	}
}

// awaitHandled waits until the last request is acknowledged.
func awaitHandled(t *testing.T, namespace string) *gitopsv1.TenantGitOps {
	t.Helper()
	var tenant *gitopsv1.TenantGitOps
	harness.Await(t, "the request in "+namespace+" to be handled", func(context.Context) (bool, string) {
		tenant = harness.Read(t, cluster.Client, namespace)
		asked := tenant.Annotations[meta.ReconcileRequestAnnotation]
		return asked != "" && tenant.Status.LastHandledReconcileAt == asked, tenant.Status.LastHandledReconcileAt
	})
	return tenant
}
