package harness

import (
	"context"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// InstallPlatform puts the platform's kinds and roles into a cluster, and has it serve
// applications in its way.
func InstallPlatform(ctx context.Context, c *embedded.Cluster) error {
	if err := fixtures.InstallPlatform(ctx, c.Client); err != nil {
		return err
	}
	if c.Applications() == embedded.CRDApplications {
		return fixtures.ServeAsCRDs(ctx, c.Client)
	}
	return c.ServeApplications(ctx)
}
