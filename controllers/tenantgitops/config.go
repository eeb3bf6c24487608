package tenantgitops

import (
	"errors"
	"fmt"
	"time"

	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// Config is the operator's configuration of tenant GitOps.
type Config struct {
	// Stamp is what the stamped objects depend on.
	Stamp stamp.Config
	// Tenancy says which namespaces are tenants.
	Tenancy tenancy.Model
	// FluxNamespace is where the platform's Flux runs.
	FluxNamespace string
	// DNSNamespace and DNSPodLabels select the pods that answer DNS.
	DNSNamespace string
	DNSPodLabels map[string]string
	// ExtraKinds are plural names of application kinds that git may write beside
	// those which a tenant's admin may.
	ExtraKinds []string
	// RolloutBatch is how many controllers take a new configuration at a time.
	RolloutBatch int
	// FinalizerGrace is how long a tenant's controller may take to release a
	// Kustomization before the operator does, where nothing is to be deleted.
	FinalizerGrace time.Duration
	// SiblingGrace is how much longer than its own timeout a source may take that deletions
	// of another one wait for, before somebody is told to see to it.
	SiblingGrace time.Duration
	// ResyncInterval is how often a tenant is looked at when nothing happens.
	ResyncInterval time.Duration
	// PlatformTTL is how long what was read of the platform is believed.
	PlatformTTL time.Duration
	// Concurrency is how many tenants are reconciled at a time.
	Concurrency int
}

// Validate says what is wrong with the configuration.
func (c Config) Validate() error {
	errs := []error{c.Stamp.Validate()}
	if c.FluxNamespace == "" {
		errs = append(errs, errors.New("the namespace of Flux must be set"))
	}
	if c.Stamp.ControllersNamespace == c.FluxNamespace {
		errs = append(errs, fmt.Errorf("the controllers' namespace must not be that of Flux, %q: a pod there can use Flux's account, which may do everything", c.FluxNamespace))
	}
	if c.DNSNamespace == "" || len(c.DNSPodLabels) == 0 {
		errs = append(errs, errors.New("the namespace and the labels of the DNS pods must be set"))
	}
	if c.RolloutBatch < 1 || c.Concurrency < 1 {
		errs = append(errs, errors.New("the rollout batch and the concurrency must be at least 1"))
	}
	if c.FinalizerGrace <= 0 || c.SiblingGrace <= 0 || c.ResyncInterval <= 0 || c.PlatformTTL <= 0 {
		errs = append(errs, errors.New("the finalizer's and the siblings' grace, the resync interval and the platform's time to live must be positive"))
	}
	return errors.Join(errs...)
}
