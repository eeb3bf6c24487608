package escapes_test

import (
	"context"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// root leads from this package to the repository.
const root = "../.."

// cluster has all layers in it, and Flux beside it.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		return manifests.Apply(ctx, c.Client, attempts.FluxForAdmins())
	}))
}
