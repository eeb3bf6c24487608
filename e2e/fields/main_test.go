package fields_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// root leads from this package to the repository.
	root = "../.."
	// parallel bounds how many tests, and with them tenants' controllers, run at
	// once.
	parallel = "3"
	// flagParallel is the flag of go test that says so.
	flagParallel = "test.parallel"
)

// What all tests of the package share.
var (
	cluster     *embedded.Cluster
	git         *gitserver.Server
	operatorLog = &harness.LogBuffer{}
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set(flagParallel, parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// All that the operator logs is kept: no credential may occur in it.
	ctrl.SetLogger(zap.New(zap.WriteTo(operatorLog), zap.Level(zapcore.DebugLevel)))
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var operator *harness.Operator
	defer func() {
		if err := stop(operator); err != nil {
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
		// So that sources which wait for others are looked at again soon.
		config.Stamp.Controller.ExtraArgs = []string{"--requeue-dependency=1s"}
		operator, err = harness.Start(ctx, c, config, nil)
		return err
	})
}

func stop(operator *harness.Operator) error {
	var errs []error
	if operator != nil {
		errs = append(errs, operator.Stop())
	}
	if git != nil {
		errs = append(errs, git.Close())
	}
	return errors.Join(errs...)
}
