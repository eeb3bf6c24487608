// Package server is the API server of the applications.
package server

import (
	"fmt"

	"github.com/spf13/pflag"
	mutatingadmissionpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Options say where the server listens and which cluster it belongs to.
type Options struct {
	// Kubeconfig leads to the cluster; empty is the one whose pod this is.
	Kubeconfig string

	serving        *options.SecureServingOptionsWithLoopback
	authentication *options.DelegatingAuthenticationOptions
	authorization  *options.DelegatingAuthorizationOptions
	admission      *options.AdmissionOptions
}

// NewOptions returns those that hold without flags.
func NewOptions() *Options {
	// Among its plugins is none for quotas, as on the platform, where mutating policies
	// are switched off too.
	admission := options.NewAdmissionOptions()
	admission.DisablePlugins = []string{mutatingadmissionpolicy.PluginName}
	return &Options{
		serving:        options.NewSecureServingOptions().WithLoopback(),
		authentication: options.NewDelegatingAuthenticationOptions(),
		authorization:  options.NewDelegatingAuthorizationOptions(),
		admission:      admission,
	}
}

// AddFlags adds the flags by which the options are set.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Kubeconfig, "kubeconfig", o.Kubeconfig, "kubeconfig that leads to the cluster; empty inside of a pod")
	o.serving.AddFlags(flags)
	o.authentication.AddFlags(flags)
	o.authorization.AddFlags(flags)
}

// cluster are the ways to the cluster behind the server.
type cluster struct {
	clients   kubernetes.Interface
	dynamic   dynamic.Interface
	informers informers.SharedInformerFactory
}

func (o *Options) connect() (*cluster, error) {
	config, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	// The callers' own servers hold them back already.
	config.QPS = -1
	made := &cluster{}
	if made.clients, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	if made.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("make a client of the cluster: %w", err)
	}
	made.informers = informers.NewSharedInformerFactory(made.clients, 0)
	return made, nil
}

// configure makes the configuration of a server with delegated authentication and
// authorization, and with admission.
func (o *Options) configure(behind *cluster) (*server.RecommendedConfig, error) {
	config := server.NewRecommendedConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.SharedInformerFactory = behind.informers
	// The documents are made from the kinds' schemas, not from Go types.
	config.SkipOpenAPIInstallation = true
	if err := o.serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, fmt.Errorf("prepare serving: %w", err)
	}
	if err := o.authentication.ApplyTo(&config.Authentication, config.SecureServing, nil); err != nil {
		return nil, fmt.Errorf("prepare authentication: %w", err)
	}
	if err := o.authorization.ApplyTo(&config.Authorization); err != nil {
		return nil, fmt.Errorf("prepare authorization: %w", err)
	}
	if err := o.admission.ApplyTo(&config.Config, behind.informers, behind.clients, behind.dynamic, utilfeature.DefaultFeatureGate, config.EffectiveVersion); err != nil {
		return nil, fmt.Errorf("prepare admission: %w", err)
	}
	return config, nil
}
