package helmreleases

import (
	"context"
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	options := embedded.Options{HelmReleases: true, Applications: embedded.CRDApplications}
	os.Exit(embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return fixtures.InstallPlatform(ctx, c.Client)
	}))
}
