package suites

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/kind"
)

// InstallPlatform puts the platform's kinds and roles into a cluster, has it serve
// applications in the way that the environment says, as the embedded cluster does, and
// runs what makes their releases.
func InstallPlatform(ctx context.Context, cluster *kind.Cluster, c client.Client) error {
	mode, err := embedded.ApplicationsByEnvironment()
	if err != nil {
		return err
	}
	if err := fixtures.InstallPlatform(ctx, c); err != nil {
		return err
	}
	if err := cluster.ServeHelmReleases(ctx); err != nil {
		return err
	}
	if mode == embedded.CRDApplications {
		err = fixtures.ServeAsCRDs(ctx, c)
	} else {
		err = cluster.ServeApplications(ctx)
	}
	if err != nil {
		return err
	}
	return cluster.RunHelmController(ctx, mode == embedded.CRDApplications)
}
