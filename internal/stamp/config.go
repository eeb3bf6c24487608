package stamp

import (
	corev1 "k8s.io/api/core/v1"
)

// Config is the operator's configuration of the tenant tier.
type Config struct {
	// ControllersNamespace is where the tenants' controllers run.
	ControllersNamespace string
	// OperatorNamespace and OperatorAccount are the operator's own.
	OperatorNamespace string
	OperatorAccount   string
	// Controller configures the tenants' controllers.
	Controller ControllerConfig
}

// ControllerConfig is how a tenant's kustomize-controller runs. It is the
// admin's, never the tenant's.
type ControllerConfig struct {
	// Image of the controller.
	Image string
	// Resources of the controller; a memory limit becomes GOMEMLIMIT, less a
	// tenth for what the Go runtime does not count.
	Resources corev1.ResourceRequirements
	// ExtraArgs are appended to the arguments. They cannot replace those which
	// keep tenants apart: see Validate.
	ExtraArgs []string
	// FeatureGates are added to the one that the operator sets, as Name=bool.
	FeatureGates []string
}
