package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestContendedApplyIsTriedAgainAtOnce puts into a Kustomization that is applied what Flux
// reports where it met another writer. Nothing but a request has it tried again before its
// interval.
func TestContendedApplyIsTriedAgainAtOnce(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const namespace = "tenant-contended"
	tenant := harness.NewTenant(t, cluster.Client, namespace)
	git := harness.NewGitServer(t)
	repository, commit := harness.NewRepository(t, git, "contended", map[string]string{"cache.yaml": fixtures.Redis("cache", 1)})
	source := harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository)
	source.Interval = metav1.Duration{Duration: 24 * time.Hour}
	source.RetryInterval = &source.Interval
	harness.Write(t, cluster.Client, tenant, source)
	harness.AwaitApplied(t, cluster.Client, namespace, commit)

	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops-apps"}}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
		t.Fatal(err)
	}
	handled := k.Status.LastHandledReconcileAt
	patch := client.MergeFrom(k.DeepCopy())
	apimeta.SetStatusCondition(&k.Status.Conditions, metav1.Condition{
		Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: meta.ReconciliationFailedReason, ObservedGeneration: k.Generation,
		Message: `Redis/tenant-contended/cache apply failed: failed to update HelmRelease: Operation cannot be fulfilled on helmreleases.helm.toolkit.fluxcd.io "redis-cache": the object has been modified; please apply your changes to the latest version and try again`,
	})
	if err := cluster.Client.Status().Patch(t.Context(), k, patch); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "Flux to have been asked, and to have tried again", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(k), k); err != nil {
			return false, err.Error()
		}
		return k.Status.LastHandledReconcileAt != handled && apimeta.IsStatusConditionTrue(k.Status.Conditions, meta.ReadyCondition), fmt.Sprint(k.Status.Conditions)
	})
}
