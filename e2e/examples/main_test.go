package examples_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// root leads from this package to the repository.
const root = "../.."

// cluster is what all tests of the package share, with an operator.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var operator *harness.Operator
	defer func() {
		if operator == nil {
			return
		}
		if err := operator.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) (err error) {
		cluster = c
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		if err := harness.InstallCustomizer(ctx, c, root); err != nil {
			return err
		}
		operator, err = harness.StartWith(ctx, c, harness.Config(), harness.Settings{Adjust: harness.CustomizerOn})
		return err
	})
}
