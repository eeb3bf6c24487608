package isolation_test

import (
	"context"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// root leads from this package to the repository.
const root = "../.."

// cluster has the policies and the platform's roles in it; Flux runs beside it.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		// What the policies hold, they hold by themselves.
		return harness.RemoveWebhooks(ctx, c, root)
	}))
}
