package gitopsparameters_test

import (
	"context"
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const root = "../.."

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}
