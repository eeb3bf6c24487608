// Package stamp computes what a TenantGitOps stands for in the cluster: a pure
// function from a snapshot to objects. It has no client, reads no clock and no
// random source; equal inputs give equal objects.
package stamp

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/templates"
)

const (
	// TenantLabel leads from a stamped object to the namespace of its TenantGitOps.
	TenantLabel = "gitops.cozystack.io/tenant"
	// SourceLabel leads from a Flux object to the source it is made for.
	SourceLabel = "gitops.cozystack.io/source"
	// GeneratedLabel says what a generated Secret is for.
	GeneratedLabel = "gitops.cozystack.io/generated"
	// ManagedByLabel and ManagedBy mark what the operator stamps.
	ManagedByLabel = apply.ManagedByLabel
	// ManagedBy is the value of ManagedByLabel.
	ManagedBy = apply.FieldManager
	// TeardownFinalizer keeps the accounts and Roles of a tenant for as long as
	// a Kustomization needs them: the deletion of a namespace takes everything in
	// it at once and lets nothing be made again.
	TeardownFinalizer = "gitops.cozystack.io/teardown"
	// RequestedAnnotation is a digest of all that asks for a reconciliation apart
	// from a change of the spec (a person's request, the versions of Secrets).
	// When it changes, Flux is asked.
	RequestedAnnotation = "gitops.cozystack.io/requested"
	// PruneGrantedAnnotation on a Kustomization lists what it may delete at one
	// revision; without it, it may not delete more than two applications.
	PruneGrantedAnnotation = "gitops.cozystack.io/prune-granted"
	// RolloutPassedAnnotation on a Deployment is the digest with which it has been
	// ready once, or with which it need not become ready, since it was not before.
	RolloutPassedAnnotation = "gitops.cozystack.io/rollout-passed" //nolint:gosec // G101: it is to have passed, no password
	// ControllerConfigAnnotation is a digest of the controllers' configuration
	// that a Deployment was stamped from.
	ControllerConfigAnnotation = "gitops.cozystack.io/controller-config"
)

// Input is the snapshot of one tenant.
type Input struct {
	// Tenant is the TenantGitOps.
	Tenant *gitopsv1.TenantGitOps
	// Config is the operator's configuration.
	Config Config
	// Network is what a tenant's controller must reach.
	Network Network
	// Kinds are the plural names of the application kinds that git may write.
	Kinds []string
	// HealthKinds are the application kinds, by their names, that Flux is told when to take
	// for healthy. Those that git may write suffice: others it cannot even read.
	HealthKinds []string
	// Targets are the namespaces, beside the tenant's own, in which the git
	// account is to be bound. Whether it may be has been decided before.
	Targets []string
	// Stamped are the sources to stamp, a subset of the spec's.
	Stamped []gitopsv1.Source
	// Named are the Secrets and ConfigMaps that the controller may read.
	Named NamedObjects
	// Requested holds, for each source, the digests for RequestedAnnotation.
	Requested map[string]Requested
	// Held holds, for each source that may not fetch, the digest for oversize.HeldAnnotation.
	Held map[string]string
	// PruneGranted holds, for sources that may delete, the values for
	// PruneGrantedAnnotation.
	PruneGranted map[string]string
	// NotAwaited are sources on which others are not to depend for a while: all that is
	// left for them to do is to prune, and that waits for the others.
	NotAwaited map[string]bool
}

// NamedObjects are names of objects in the tenant's namespace.
type NamedObjects struct {
	Secrets    []string
	ConfigMaps []string
}

// Requested are the digests for RequestedAnnotation of a source's two objects.
type Requested struct {
	Source        string
	Kustomization string
}

// Stack is all that is stamped for one tenant, once the operator is bound into
// its namespaces (SelfBindings), in the order in which it is put up.
type Stack struct {
	// Accounts are the accounts, Roles and bindings of git and of the controller.
	Accounts []client.Object
	// Controller is the tenant's controller and its NetworkPolicy.
	Controller []client.Object
	// Sources are the GitRepositories and OCIRepositories.
	Sources []client.Object
	// Kustomizations are last: nothing may be applied before all else stands.
	Kustomizations []client.Object
}

// Tenant computes the stack of one tenant.
func Tenant(in Input) (*Stack, error) {
	b := builder{in: in, tenant: in.Tenant.Namespace}
	stack := &Stack{}
	for _, step := range []func(*Stack) error{
		b.gitAccount, b.controllerAccount, b.controller, b.networkPolicy, b.sources,
	} {
		if err := step(stack); err != nil {
			return nil, err
		}
	}
	return stack, nil
}

type builder struct {
	in     Input
	tenant string
}

// variables are what every template of the tenant tier may name.
func (b builder) variables() templates.Variables {
	return templates.Variables{
		"tenant":               b.tenant,
		"namespace":            b.tenant,
		"shard":                names.Shard(b.tenant),
		"controller":           names.Controller(b.tenant),
		"controllerRole":       names.ControllerRole,
		"gitAccount":           names.GitAccount(b.tenant),
		"selfBinding":          names.SelfBinding(b.tenant),
		"controllersNamespace": b.in.Config.ControllersNamespace,
		"operatorNamespace":    b.in.Config.OperatorNamespace,
		"operatorAccount":      b.in.Config.OperatorAccount,
	}
}

func (b builder) variablesIn(namespace string) templates.Variables {
	v := b.variables()
	v["namespace"] = namespace
	v["gitRole"] = names.GitRole(b.tenant, namespace)
	return v
}

// hold puts the teardown finalizer on an object of the tenant's own namespace.
func (b builder) hold(obj client.Object) {
	if obj.GetNamespace() == b.tenant {
		obj.SetFinalizers([]string{TeardownFinalizer})
	}
}

// SelfBindings are the bindings that let the operator work in the tenant's
// namespaces. Nothing else can be stamped before they stand.
func SelfBindings(in Input) ([]client.Object, error) {
	b := builder{in: in, tenant: in.Tenant.Namespace}
	var bindings []client.Object
	for _, namespace := range append([]string{b.tenant}, in.Targets...) {
		binding, err := templates.Decode[rbacv1.RoleBinding]("tenant/operator-rolebinding.yaml", b.variablesIn(namespace))
		if err != nil {
			return nil, err
		}
		b.hold(binding)
		bindings = append(bindings, binding)
	}
	return bindings, nil
}

// SourceObjects are the Flux objects of the input's sources alone.
func SourceObjects(in Input) ([]client.Object, error) {
	b := builder{in: in, tenant: in.Tenant.Namespace}
	stack := &Stack{}
	if err := b.sources(stack); err != nil {
		return nil, err
	}
	return append(stack.Sources, stack.Kustomizations...), nil
}
