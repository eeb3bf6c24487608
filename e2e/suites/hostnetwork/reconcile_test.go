//go:build kind

package hostnetwork_test

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestTenantReconciles applies a repository, whose artifact the tenant's controller
// fetches from the node.
func TestTenantReconciles(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-acme"
	repository, commit := stage.Enable(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)

	commit = harness.Commit(t, repository, map[string]string{"cache.yaml": fixtures.Redis("cache", 1)}, "db.yaml")
	harness.Request(t, stage.Client, tenant)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	harness.AwaitExists(t, stage.Client, fixtures.Application("Redis", tenant, "cache"))
	harness.AwaitGone(t, stage.Client, fixtures.Application("Postgres", tenant, "db"))
}
