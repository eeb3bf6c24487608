// Command helmcontroller stands in for Flux's helm-controller in tests: it makes the
// releases of HelmReleases with the Helm library, from charts that a test lays into a
// folder, and says in their status what helm-controller would.
//
// With --mirror-applications it also makes the HelmReleases of applications that are
// served as plain custom resources.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/applications"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/charts"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/helm"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/releases"
)

// options are the program's flags. Those that helm-controller has too are called as its.
type options struct {
	charts             string
	watchSelector      string
	configSelector     string
	healthAddress      string
	metricsAddress     string
	mirror             bool
	dependencyInterval time.Duration
	controller         releases.Options
}

func main() {
	var o options
	pflag.StringVar(&o.charts, "charts", "", "folder with the folder of a chart for each source, called as the source; sources without one have a chart that is built in")
	pflag.StringVar(&o.watchSelector, "watch-label-selector", "", "take only HelmReleases with these labels")
	pflag.StringVar(&o.configSelector, "watch-configs-label-selector", "reconcile.fluxcd.io/watch=Enabled", "heed changes of Secrets and ConfigMaps with these labels at once")
	pflag.StringVar(&o.healthAddress, "health-addr", ":9440", "where probes are answered")
	pflag.StringVar(&o.metricsAddress, "metrics-addr", "0", "where metrics are served; 0 for nowhere")
	pflag.BoolVar(&o.mirror, "mirror-applications", false, "make the HelmReleases of applications that are served as custom resources")
	pflag.DurationVar(&o.dependencyInterval, "requeue-dependency", 30*time.Second, "how soon to look again at a dependency, or a source, that is not ready")
	pflag.IntVar(&o.controller.Workers, "concurrent", 4, "how many releases to make at a time")
	pflag.DurationVar(&o.controller.MinRetryDelay, "min-retry-delay", 750*time.Millisecond, "wait after the first failure; each further wait is twice as long")
	pflag.DurationVar(&o.controller.MaxRetryDelay, "max-retry-delay", 15*time.Minute, "longest wait after a failure")
	pflag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	manager, err := newManager(o)
	if err != nil {
		return err
	}
	access, err := helm.NewAccess(manager.GetConfig())
	if err != nil {
		return err
	}
	if o.controller.ConfigSelector, err = labels.Parse(o.configSelector); err != nil {
		return fmt.Errorf("read --watch-configs-label-selector: %w", err)
	}
	reconciler := &releases.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Access: access,
		Charts:             charts.Library{Folder: o.charts},
		Events:             manager.GetEventRecorderFor(helm.FieldManager),
		DependencyInterval: o.dependencyInterval,
	}
	if err := reconciler.SetupWithManager(ctx, manager, o.controller); err != nil {
		return fmt.Errorf("set up the controller of HelmReleases: %w", err)
	}
	if o.mirror {
		if err := applications.SetupWithManager(manager); err != nil {
			return err
		}
	}
	return manager.Start(ctx)
}

func newManager(o options) (ctrl.Manager, error) {
	if o.mirror && o.watchSelector != "" {
		return nil, errors.New("start: --mirror-applications must see every HelmRelease: leave out --watch-label-selector")
	}
	selector, err := labels.Parse(o.watchSelector)
	if err != nil {
		return nil, fmt.Errorf("read --watch-label-selector: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v2.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("make the scheme: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: %w", err)
	}
	config.QPS, config.Burst = 200, 400
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                server.Options{BindAddress: o.metricsAddress},
		HealthProbeBindAddress: o.healthAddress,
		Cache:                  cache.Options{ByObject: map[client.Object]cache.ByObject{&v2.HelmRelease{}: {Label: selector}}},
		Client:                 client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}}},
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
