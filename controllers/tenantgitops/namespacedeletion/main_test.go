package namespacedeletion_test

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

// missingImage is one that the runner cannot pull.
const missingImage = "registry.example.org/gone:v0"

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}
