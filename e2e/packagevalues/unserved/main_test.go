package unserved_test

import (
	"context"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// root leads from this package to the repository.
const root = "../../.."

// cluster has the operator's objects and none of the platform's.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	options := harness.Options(root)
	options.Runner = false
	os.Exit(embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		if err := manifests.ApplyPaths(ctx, c.Client, root+"/config/namespaces", root+"/config/rbac"); err != nil {
			return err
		}
		if err := harness.InstallWebhooks(ctx, c, root); err != nil {
			return err
		}
		return harness.InstallPolicies(ctx, c, root)
	}))
}
