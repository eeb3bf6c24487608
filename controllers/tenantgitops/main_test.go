package tenantgitops_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// root leads from this package to the repository.
const root = "../.."

// cluster is what all tests of the package run on: a real API server with the
// real Flux controllers, and a runner for the Deployments that are stamped.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	options := harness.Options(root)
	// What accounts may do is the same in both modes: the platform has HelmReleases.
	releases, err := embedded.HelmReleaseCRDs(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options.CRDPaths = append(options.CRDPaths, releases)
	os.Exit(embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}
