package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cozystack/gitops-operator/controllers/tenantgitops"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/tenancy"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// defaultControllerImage is the kustomize-controller that this version is tested
// with; it is the version pinned in tools/kustomize-controller.
const defaultControllerImage = "fluxcd/kustomize-controller:v1.9.6"

// options are the operator's flags.
type options struct {
	metricsAddress string
	healthAddress  string
	leaderElection bool
	webhookPort    int
	webhookCerts   string
	logLevel       string
	logFormat      string

	operatorNamespace string
	operatorAccount   string

	customizer bool

	controllersNamespace string
	controllerImage      string
	controllerCPU        string
	controllerCPULimit   string
	controllerMemory     string
	controllerMemLimit   string
	controllerArgs       []string
	controllerGates      []string
	rolloutBatch         int

	fluxNamespace  string
	tenantSelector string
	extraKinds     []string
	dnsNamespace   string
	dnsPodLabels   string
	finalizerGrace time.Duration
	resync         time.Duration
	concurrency    int
}

func (o *options) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.metricsAddress, "metrics-addr", ":8080", "address that metrics are served on; 0 turns them off")
	flags.StringVar(&o.healthAddress, "health-addr", ":8081", "address that probes are served on; 0 turns them off")
	flags.BoolVar(&o.leaderElection, "leader-election", true, "reconcile in one replica at a time; the lease is in the operator's namespace")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "port that admission webhooks are served on; 0 turns them off, and then config/webhook has to be left out")
	flags.StringVar(&o.webhookCerts, "webhook-certificates", "", "folder with tls.crt and tls.key of the webhooks, renewed by somebody else, such as cert-manager, who also puts the authority into the webhook configuration; empty for the certificate that \"gitops-operator certificates\" makes and renews")
	o.bindCertificates(flags)
	flags.StringVar(&o.operatorAccount, "operator-service-account", envOr("POD_SERVICE_ACCOUNT", "gitops-operator"), "service account that the operator runs as; it binds it into the namespaces of tenants with a TenantGitOps")

	flags.BoolVar(&o.customizer, "customizer", envOr("CUSTOMIZER", "false") == "true", "reconcile Customizers, which apply repositories to the platform; needs the roles of config/customizer, which sets CUSTOMIZER in the environment")

	flags.StringVar(&o.controllersNamespace, "controllers-namespace", "cozy-gitops-tenants", "namespace that the tenants' controllers run in; nothing else may run there")
	flags.StringVar(&o.controllerImage, "controller-image", defaultControllerImage, "image of the tenants' kustomize-controllers")
	flags.StringVar(&o.controllerCPU, "controller-cpu-request", "20m", "CPU request of a tenant's controller")
	flags.StringVar(&o.controllerCPULimit, "controller-cpu-limit", "1", "CPU limit of a tenant's controller; empty for none")
	flags.StringVar(&o.controllerMemory, "controller-memory-request", "96Mi", "memory request of a tenant's controller")
	flags.StringVar(&o.controllerMemLimit, "controller-memory-limit", "512Mi", "memory limit of a tenant's controller; a build that outgrows it ends that controller only")
	flags.StringArrayVar(&o.controllerArgs, "controller-arg", nil, "argument added to those of the tenants' controllers, for example --concurrent=8; may be repeated")
	flags.StringArrayVar(&o.controllerGates, "controller-feature-gate", nil, "feature gate, as Name=true, added to that of the tenants' controllers; may be repeated")
	flags.IntVar(&o.rolloutBatch, "rollout-batch", 5, "how many tenants' controllers take a new image or configuration at a time; the next batch starts when the one before is ready")

	flags.StringVar(&o.fluxNamespace, "flux-namespace", "cozy-fluxcd", "namespace that the platform's Flux runs in")
	flags.StringVar(&o.tenantSelector, "tenant-selector", "", "label selector of the tenants' namespaces; empty on Cozystack, where they are called tenant-*; config/policies and config/webhook go by that name as well")
	flags.StringSliceVar(&o.extraKinds, "application-kind", nil, "plural of an application kind that git may write beside those that a tenant's admin may; may be repeated")
	flags.StringVar(&o.dnsNamespace, "dns-namespace", "kube-system", "namespace of the pods that answer DNS")
	flags.StringVar(&o.dnsPodLabels, "dns-pod-labels", "k8s-app=kube-dns", "labels of the pods that answer DNS")
	flags.DurationVar(&o.finalizerGrace, "finalizer-grace", 30*time.Second, "how long a tenant's controller may take to release a Kustomization with nothing to delete before the operator does")
	flags.DurationVar(&o.resync, "resync-interval", 10*time.Minute, "how often a tenant is looked at when nothing happens")
	flags.IntVar(&o.concurrency, "concurrency", 8, "how many tenants are reconciled at a time")
}

// bindCertificates binds the flags that "gitops-operator certificates" has as well.
func (o *options) bindCertificates(flags *pflag.FlagSet) {
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info or error")
	flags.StringVar(&o.logFormat, "log-format", "json", "json or console")
	flags.StringVar(&o.operatorNamespace, "operator-namespace", envOr("POD_NAMESPACE", "cozy-gitops"), "namespace that the operator runs in")
}

func envOr(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

// platformTTL bounds the API requests for what is the same for all tenants.
const platformTTL = 15 * time.Second

// siblingGrace is above what a slow clone and an attempt's queue take.
const siblingGrace = 5 * time.Minute

func (o *options) tenantGitOps() (tenantgitops.Config, error) {
	var errs []error
	quantities := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, q := range []struct {
		flag, value string
		list        corev1.ResourceList
		name        corev1.ResourceName
	}{
		{"controller-cpu-request", o.controllerCPU, quantities.Requests, corev1.ResourceCPU},
		{"controller-cpu-limit", o.controllerCPULimit, quantities.Limits, corev1.ResourceCPU},
		{"controller-memory-request", o.controllerMemory, quantities.Requests, corev1.ResourceMemory},
		{"controller-memory-limit", o.controllerMemLimit, quantities.Limits, corev1.ResourceMemory},
	} {
		if q.value == "" {
			continue
		}
		quantity, err := resource.ParseQuantity(q.value)
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s=%s is no quantity: %w", q.flag, q.value, err))
			continue
		}
		q.list[q.name] = quantity
	}
	model := tenancy.Model{}
	if o.tenantSelector != "" {
		selector, err := labels.Parse(o.tenantSelector)
		if err != nil {
			errs = append(errs, fmt.Errorf("--tenant-selector=%s is no label selector: %w", o.tenantSelector, err))
		}
		model.Selector = selector
	}
	dnsLabels, err := labels.ConvertSelectorToLabelsMap(o.dnsPodLabels)
	if err != nil {
		errs = append(errs, fmt.Errorf("--dns-pod-labels=%s are no labels: %w", o.dnsPodLabels, err))
	}
	config := tenantgitops.Config{
		Stamp: stamp.Config{
			ControllersNamespace: o.controllersNamespace,
			OperatorNamespace:    o.operatorNamespace,
			OperatorAccount:      o.operatorAccount,
			Controller: stamp.ControllerConfig{
				Image:        o.controllerImage,
				Resources:    quantities,
				ExtraArgs:    o.controllerArgs,
				FeatureGates: o.controllerGates,
			},
		},
		Tenancy:        model,
		FluxNamespace:  o.fluxNamespace,
		DNSNamespace:   o.dnsNamespace,
		DNSPodLabels:   dnsLabels,
		ExtraKinds:     o.extraKinds,
		RolloutBatch:   o.rolloutBatch,
		FinalizerGrace: o.finalizerGrace,
		SiblingGrace:   siblingGrace,
		ResyncInterval: o.resync,
		PlatformTTL:    platformTTL,
		Concurrency:    o.concurrency,
	}
	errs = append(errs, config.Validate())
	return config, errors.Join(errs...)
}

// certificatesInterval is how often certificates of months are looked at.
const certificatesInterval = 10 * time.Second

// webhook returns nil where webhooks are turned off.
func (o *options) webhook(model tenancy.Model) *webhook.Options {
	if o.webhookPort == 0 {
		return nil
	}
	return &webhook.Options{
		Port:            o.webhookPort,
		CertificatesDir: o.webhookCerts,
		Namespace:       o.operatorNamespace,
		Interval:        certificatesInterval,
		Tenancy:         model,
	}
}

func (o *options) validateLogging() error {
	if !slices.Contains([]string{"debug", "info", "error"}, o.logLevel) {
		return fmt.Errorf("--log-level=%s is none of debug, info and error", o.logLevel)
	}
	if o.logFormat != "json" && o.logFormat != "console" {
		return fmt.Errorf("--log-format=%s is neither json nor console", o.logFormat)
	}
	return nil
}
