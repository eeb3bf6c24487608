package examples_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// root leads from this package to the repository.
const root = "../.."

// cluster is what all tests of the package share, with an operator.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var running *harness.Operator
	defer func() {
		if running == nil {
			return
		}
		if err := running.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) (err error) {
		cluster = c
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		if err := manifests.ApplyPaths(ctx, c.Client, root+"/config/customizer/rbac", root+"/config/customizer/guards"); err != nil {
			return err
		}
		running, err = harness.StartWith(ctx, c, harness.Config(), harness.Settings{Adjust: func(o *operator.Options) { o.Customizer = true }})
		return err
	})
}
