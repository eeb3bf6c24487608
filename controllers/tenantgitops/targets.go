package tenantgitops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// targets decides in which other namespaces the git account is bound: those of
// descendants that a source names, and those where something that was applied
// may still have to be pruned. Sources that name another one become problems.
func (p *pass) targets(ctx context.Context) ([]string, error) {
	var targets []string
	for _, source := range p.tenant.Spec.Sources {
		target := stamp.TargetNamespace(p.tenant.Namespace, source)
		if target == p.tenant.Namespace {
			continue
		}
		allowed, err := p.isDescendant(ctx, target)
		if err != nil {
			return nil, err
		}
		if !allowed {
			p.problems[source.Name] = problem{
				reason:  gitopsv1.ReasonTargetNamespaceRefused,
				message: fmt.Sprintf("targetNamespace %s is neither this tenant's namespace nor that of a tenant below it: name one of those, or remove it", target),
				held:    true,
			}
			continue
		}
		targets = append(targets, target)
	}
	for _, binding := range p.live.bindings {
		if binding.Namespace == p.tenant.Namespace || !p.live.mayHaveAppliedIn(binding.Namespace) {
			continue
		}
		allowed, err := p.isDescendant(ctx, binding.Namespace)
		if err != nil {
			return nil, err
		}
		if allowed {
			targets = append(targets, binding.Namespace)
		}
	}
	slices.Sort(targets)
	return slices.Compact(targets), nil
}

// isDescendant says whether a namespace exists, stays, and is that of a tenant
// below this one.
func (p *pass) isDescendant(ctx context.Context, name string) (bool, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := p.Client.Get(ctx, client.ObjectKey{Name: name}, ns); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return false, nil
		}
		return false, fmt.Errorf("cannot read namespace %s: %w", name, err)
	}
	if !ns.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return p.Config.Tenancy.Contains(p.tenant.Namespace, tenancy.Namespace{Name: ns.Name, Labels: ns.Labels}), nil
}

// mayHaveAppliedIn says whether a stamped Kustomization targets the namespace,
// or has something in it. An inventory is written by the tenant's controller, so
// it may only keep a binding that is there, and never be the reason for a new one.
func (l *live) mayHaveAppliedIn(namespace string) bool {
	for _, kustomization := range l.kustomizations {
		if !isStamped(kustomization) {
			continue
		}
		if kustomization.Spec.TargetNamespace == namespace {
			return true
		}
		if kustomization.Status.Inventory == nil {
			continue
		}
		for _, entry := range kustomization.Status.Inventory.Entries {
			if strings.HasPrefix(entry.ID, namespace+"_") {
				return true
			}
		}
	}
	return false
}

// findCycles makes problems of sources that wait for each other in a ring.
func (p *pass) findCycles() {
	dependencies := map[string][]string{}
	for _, source := range p.tenant.Spec.Sources {
		dependencies[source.Name] = source.DependsOn
	}
	for _, source := range p.tenant.Spec.Sources {
		if ring := ringThrough(source.Name, dependencies); ring != nil {
			p.problems[source.Name] = problem{
				reason:  gitopsv1.ReasonDependencyCycle,
				message: fmt.Sprintf("sources depend on each other in a ring: %s; remove one dependsOn", strings.Join(ring, " -> ")),
				held:    true,
				stalled: true,
			}
		}
	}
}

// ringThrough returns a way from a source back to itself, or nil.
func ringThrough(start string, dependencies map[string][]string) []string {
	seen := map[string]bool{}
	var walk func(name string, path []string) []string
	walk = func(name string, path []string) []string {
		for _, next := range dependencies[name] {
			if next == start {
				return append(path, next)
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if ring := walk(next, append(slices.Clone(path), next)); ring != nil {
				return ring
			}
		}
		return nil
	}
	return walk(start, []string{start})
}

// sourceNames are the names of the Flux objects that the spec stands for.
func sourceNames(tenant *gitopsv1.TenantGitOps) map[string]bool {
	wanted := map[string]bool{}
	for _, source := range tenant.Spec.Sources {
		wanted[names.FluxObject(source.Name)] = true
	}
	return wanted
}
