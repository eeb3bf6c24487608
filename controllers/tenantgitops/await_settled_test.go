package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// awaitSettled waits until every source of a tenant has failed or is applied.
func awaitSettled(t *testing.T, namespace string) gitopsv1.TenantGitOpsStatus {
	t.Helper()
	tenant := tenantGitOps(namespace)
	harness.Await(t, "every source of "+namespace+" to fail or be applied", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(tenant), tenant); err != nil {
			return false, err.Error()
		}
		var open []string
		for _, source := range tenant.Status.Sources {
			if source.Ready == metav1.ConditionUnknown {
				open = append(open, source.Name+": "+source.Message)
			}
		}
		return len(open) == 0 && len(tenant.Status.Sources) == len(tenant.Spec.Sources), fmt.Sprint(open)
	})
	return tenant.Status
}
