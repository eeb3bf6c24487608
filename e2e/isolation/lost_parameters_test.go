package isolation_test

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// Without parameters nothing of a tenant's passes, and the platform's own namespaces go on.
func TestLostParametersCloseTenantsNamespacesOnly(t *testing.T) {
	const namespace = "tenant-lost"
	person := newTenantAdmin(t, namespace)
	lost := parameters(t)
	if err := cluster.Client.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Client.Create(context.Background(), harness.Parameters()); err != nil {
			t.Error(err)
		}
	})
	harness.Await(t, "the policies to close", func(ctx context.Context) (bool, string) {
		err := person.Create(ctx, attempts.Kustomization(namespace), client.DryRunAll)
		if err == nil {
			return false, "passes"
		}
		return true, err.Error()
	})
	for _, other := range []*object{attempts.Kustomization("default"), attempts.GitRepository("default"), attempts.OCIRepository("default")} {
		if err := cluster.Client.Create(t.Context(), other, client.DryRunAll); err != nil {
			t.Errorf("the platform's %s: %v", other.GetKind(), err)
		}
	}
}
