package helmreleases

import (
	"context"
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(embedded.Main(m, embedded.Options{HelmReleases: true}, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.InstallPlatform(ctx, c)
	}))
}
