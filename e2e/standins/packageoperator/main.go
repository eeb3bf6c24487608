// Command packageoperator stands in for the platform's operator of packages in tests: it
// lays in the kinds Package and PackageSource, and writes the HelmReleases that they ask
// for, in the very way of the platform's. It counts what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/definitions"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/packages"
)

// installTimeout bounds how long the kinds may take to be served.
const installTimeout = 2 * time.Minute

// options are the program's flags. Those that the platform's has too are called as its.
type options struct {
	healthAddress  string
	metricsAddress string
	retryInterval  time.Duration
}

func main() {
	var o options
	pflag.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081", "where probes are answered")
	pflag.StringVar(&o.metricsAddress, "metrics-bind-address", ":8080", "where metrics are served, and counts at "+counts.Path)
	pflag.DurationVar(&o.retryInterval, "helmrelease-retry-interval", 30*time.Second, "how soon Flux is to try a failed release again")
	pflag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	counter := &counts.Counter{}
	manager, err := newManager(o, counter)
	if err != nil {
		return err
	}
	if err := layInKinds(ctx, manager); err != nil {
		return err
	}
	reconciler := &packages.Reconciler{
		Client: counts.NewClient(manager.GetClient(), counter), Counter: counter, RetryInterval: o.retryInterval,
	}
	if err := reconciler.SetupWithManager(manager); err != nil {
		return fmt.Errorf("set up the controller of Packages: %w", err)
	}
	return manager.Start(ctx)
}

// layInKinds lays in the kinds, before anything of them is cached.
func layInKinds(ctx context.Context, manager ctrl.Manager) error {
	live, err := client.New(manager.GetConfig(), client.Options{Scheme: manager.GetScheme()})
	if err != nil {
		return fmt.Errorf("make a client without a cache: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	return definitions.Install(ctx, live)
}

func newManager(o options, counter *counts.Counter) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), kinds.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("make the scheme: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	// Its first part is who owns the fields of what is written.
	config.UserAgent = "cozystack-operator/stand-in"
	config.QPS, config.Burst = 200, 400
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Metrics: server.Options{
			BindAddress: o.metricsAddress, ExtraHandlers: map[string]http.Handler{counts.Path: counter},
		},
		HealthProbeBindAddress: o.healthAddress,
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	for name, add := range map[string]func(string, healthz.Checker) error{"healthz": manager.AddHealthzCheck, "readyz": manager.AddReadyzCheck} {
		if err := add(name, healthz.Ping); err != nil {
			return nil, fmt.Errorf("make the manager: %w", err)
		}
	}
	return manager, nil
}
