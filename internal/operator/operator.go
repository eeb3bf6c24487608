// Package operator assembles the manager: scheme, cache, probes and reconcilers.
// The program and the tests start the same one.
package operator

import (
	"fmt"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/controllers/artifactseal"
	"github.com/cozystack/gitops-operator/controllers/customizer"
	"github.com/cozystack/gitops-operator/controllers/customizeroff"
	"github.com/cozystack/gitops-operator/controllers/gitopsparameters"
	"github.com/cozystack/gitops-operator/controllers/packagevalues"
	"github.com/cozystack/gitops-operator/controllers/tenantgitops"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/packages"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// Options of the operator.
type Options struct {
	// TenantGitOps configures the tenant tier.
	TenantGitOps tenantgitops.Config
	// Customizer switches the admin tier on.
	Customizer bool
	// Webhook configures the admission webhooks; nil for none.
	Webhook *webhook.Options
	// MetricsAddress and HealthAddress are listened on; "0" for not at all.
	MetricsAddress string
	HealthAddress  string
	// LeaderElection lets one of several replicas reconcile.
	LeaderElection          bool
	LeaderElectionNamespace string
	// AllowSameName lets tests start several operators in one process.
	AllowSameName bool
}

// leaderElectionID is the name of the lease.
const leaderElectionID = "gitops-operator"

// shutdownTimeout lets a reconciliation in flight end.
const shutdownTimeout = 20 * time.Second

// Scheme knows every kind that the operator reads or writes.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(kustomizev1.AddToScheme(scheme))
	utilruntime.Must(sourcev1.AddToScheme(scheme))
	utilruntime.Must(helmrelease.AddToScheme(scheme))
	utilruntime.Must(gitopsv1.AddToScheme(scheme))
	utilruntime.Must(cozyv1.AddToScheme(scheme))
	utilruntime.Must(packages.AddToScheme(scheme))
	return scheme
}

// New returns a manager with every reconciler set up; it is not started.
func New(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	metrics := metricsserver.Options{BindAddress: options.MetricsAddress}
	if options.MetricsAddress != "0" {
		metrics.SecureServing = true
		metrics.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	timeout := shutdownTimeout
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                        Scheme(),
		Cache:                         tenantgitops.CacheOptions(options.TenantGitOps),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: tenantgitops.UncachedObjects()}},
		Metrics:                       metrics,
		HealthProbeBindAddress:        options.HealthAddress,
		LeaderElection:                options.LeaderElection,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       options.LeaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true,
		GracefulShutdownTimeout:       &timeout,
		Controller: config.Controller{
			SkipNameValidation: &options.AllowSameName,
			// Its shutdown can wait for a worker that has left, for good:
			// https://github.com/kubernetes-sigs/controller-runtime/issues/3538
			UsePriorityQueue: new(false),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return nil, fmt.Errorf("cannot add the liveness probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return nil, fmt.Errorf("cannot add the readiness probe: %w", err)
	}
	if err := gitopsparameters.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	if options.Webhook != nil {
		served := *options.Webhook
		served.Account = options.TenantGitOps.Stamp.OperatorAccount
		if err := webhook.SetupWithManager(mgr, served); err != nil {
			return nil, err
		}
	}
	if err := tenantgitops.SetupWithManager(mgr, options.TenantGitOps); err != nil {
		return nil, err
	}
	if err := artifactseal.SetupWithManager(mgr, artifactseal.Config{
		FluxNamespace:        options.TenantGitOps.FluxNamespace,
		ControllersNamespace: options.TenantGitOps.Stamp.ControllersNamespace,
		Interval:             options.TenantGitOps.PlatformTTL,
		DNSNamespace:         options.TenantGitOps.DNSNamespace,
		DNSPodLabels:         options.TenantGitOps.DNSPodLabels,
	}); err != nil {
		return nil, err
	}
	if err := setUpCustomizer(mgr, options); err != nil {
		return nil, err
	}
	if err := packagevalues.SetupWithManager(mgr, packagevalues.Config{
		OperatorNamespace: options.TenantGitOps.Stamp.OperatorNamespace,
		ResyncInterval:    options.TenantGitOps.ResyncInterval,
	}); err != nil {
		return nil, err
	}
	return mgr, nil
}

func setUpCustomizer(mgr ctrl.Manager, options Options) error {
	if !options.Customizer {
		return customizeroff.SetupWithManager(mgr)
	}
	return customizer.SetupWithManager(mgr, customizer.Config{
		ResyncInterval: options.TenantGitOps.ResyncInterval,
		FinalizerGrace: options.TenantGitOps.FinalizerGrace,
	})
}
