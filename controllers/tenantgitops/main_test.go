package tenantgitops_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// cluster is what all tests of the package run on: a real API server with the
// real Flux controllers, and a runner for the Deployments that are stamped.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "info"}))
	os.Exit(embedded.Main(m, embedded.Options{
		Flux:     true,
		Runner:   true,
		CRDPaths: []string{"../../config/crd/bases"},
		Scheme:   operator.Scheme(),
	}, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		if err := manifests.ApplyPaths(ctx, c.Client, "../../config/namespaces", "../../config/rbac", "../../config/policies"); err != nil {
			return fmt.Errorf("install the operator: %w", err)
		}
		return fixtures.InstallPlatform(ctx, c.Client)
	}))
}
