package ownership_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// root leads from this package to the repository.
	root = "../.."
	// parallel bounds how many tests, and with them tenants' controllers, run at once.
	parallel = "3"
)

// What all tests of the package share.
var (
	cluster  *embedded.Cluster
	git      *gitserver.Server
	operator *harness.Operator
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
	return embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) (err error) {
		cluster = c
		if git, err = gitserver.Start(gitserver.Options{}); err != nil {
			return err
		}
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		config := harness.Config()
		// Beside each source's own timeout; only those of a test about it have a short one.
		config.SiblingGrace = 2 * time.Second
		operator, err = harness.Start(ctx, c, config, nil)
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
