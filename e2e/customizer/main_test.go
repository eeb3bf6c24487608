package customizer_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
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
	options.PackageOperator = true
	return embedded.Main(m, options, func(ctx context.Context, c *embedded.Cluster) (err error) {
		cluster = c
		if git, err = gitserver.Start(gitserver.Options{}); err != nil {
			return err
		}
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		if err := harness.InstallCustomizer(ctx, c, root); err != nil {
			return err
		}
		authority := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: harness.CASecret},
			StringData: map[string]string{"ca.crt": git.CertificateAuthority},
		}
		if err := c.Client.Create(ctx, authority); err != nil {
			return err
		}
		if err := manifests.Apply(ctx, c.Client, bootstrap()...); err != nil {
			return err
		}
		return start(ctx, nil)
	})
}

// start starts an operator with the admin tier.
func start(ctx context.Context, settings *harness.Settings) (err error) {
	if settings == nil {
		settings = &harness.Settings{}
	}
	settings.Adjust = harness.CustomizerOn
	operator, err = harness.StartWith(ctx, cluster, harness.Config(), *settings)
	return err
}

// stopOperator ends the operator. At the test's end there is one again.
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
		if err := start(context.Background(), nil); err != nil {
			t.Error(err)
			return
		}
		// One that is stopped without an API server before it is ready does not end.
		operator.AwaitReady(t)
	})
}

// startOperator starts an operator after stopOperator.
func startOperator(t *testing.T) {
	t.Helper()
	if err := start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	operator.AwaitReady(t)
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
