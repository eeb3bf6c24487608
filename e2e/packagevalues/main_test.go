package packagevalues_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// root leads from this package to the repository.
const root = "../.."

// What all tests of the package share.
var (
	cluster  *embedded.Cluster
	git      *gitserver.Server
	operator *harness.Operator
)

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	defer func() {
		if err := stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	options := harness.Options(root)
	options.HelmReleases, options.PackageOperator = true, true
	return embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) (err error) {
		cluster = c
		if git, err = gitserver.Start(gitserver.Options{}); err != nil {
			return err
		}
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		operator, err = harness.Start(ctx, c, harness.Config(), nil)
		return err
	})
}

func stop() error {
	var errs []error
	if operator != nil {
		errs = append(errs, operator.Stop())
	}
	if git != nil {
		errs = append(errs, git.Close())
	}
	return errors.Join(errs...)
}
