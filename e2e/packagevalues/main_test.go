package packagevalues_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// root leads from this package to the repository.
	root = "../.."
	// parallel bounds how many tests run at once.
	parallel = "4"
)

// What all tests of the package share. The operator is another one after each of the tests
// that stop it: none of these is parallel, and those that are run after them.
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

// stopOperator ends the operator, so that nobody answers for its webhooks. The next one
// starts at the test's end, if the test has started none.
func stopOperator(t *testing.T) {
	t.Helper()
	if err := operator.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A test that has failed may leave one that does not do its work.
		if operator.Running() && !t.Failed() {
			return
		}
		if err := operator.Stop(); err != nil {
			t.Log(err)
		}
		restart(context.Background(), t)
		// One that is stopped without an API server before it is ready does not end.
		operator.AwaitReady(t)
	})
}

// startOperator starts an operator after stopOperator.
func startOperator(t *testing.T) {
	t.Helper()
	restart(t.Context(), t)
	operator.AwaitReady(t)
}

func restart(ctx context.Context, t *testing.T) {
	t.Helper()
	started, err := harness.Start(ctx, cluster, harness.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	operator = started
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
