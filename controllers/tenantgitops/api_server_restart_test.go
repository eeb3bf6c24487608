package tenantgitops_test

import (
	"fmt"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestAPIServerRestartsWhileTenantsAreStamped restarts the API server in the
// middle, and waits for the same end.
func TestAPIServerRestartsWhileTenantsAreStamped(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	commits := map[string]string{}
	for i := range 4 {
		namespace := harness.NewTenant(t, cluster.Client, fmt.Sprintf("tenant-restart%d", i))
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
		harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
		commits[namespace] = commit
	}
	if err := cluster.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	for namespace, commit := range commits {
		harness.AwaitApplied(t, cluster.Client, namespace, commit)
		checkStamped(t, namespace)
	}
}
