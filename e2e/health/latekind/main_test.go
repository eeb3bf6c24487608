package latekind_test

import (
	"context"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// root leads from this package to the repository.
const root = "../../.."

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	options := harness.Options(root)
	// A server of applications would store them as HelmReleases.
	options.Applications = embedded.CRDApplications
	os.Exit(embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}
