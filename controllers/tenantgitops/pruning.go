package tenantgitops

import (
	"context"
	"fmt"
	"slices"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// prune takes down what the spec no longer asks for: the Kustomizations of
// removed sources first, and when their finalizers are gone what they needed. It
// returns after how long to look again, 0 for no need.
func (p *pass) prune(ctx context.Context, targets []string) (time.Duration, error) {
	wanted := sourceNames(p.tenant)
	var after time.Duration
	for _, name := range sortedKeys(p.live.kustomizations) {
		kustomization := p.live.kustomizations[name]
		if !isStamped(kustomization) || wanted[name] {
			continue
		}
		if err := p.unhold(ctx, kustomization); err != nil {
			return 0, err
		}
		wait, err := p.takeDown(ctx, kustomization)
		if err != nil {
			return 0, err
		}
		after = sooner(after, wait)
	}
	if err := p.pruneRepositories(ctx); err != nil {
		return 0, err
	}
	if err := p.pruneDeployKeys(ctx); err != nil {
		return 0, err
	}
	if err := p.pruneTargets(ctx, targets); err != nil {
		return 0, err
	}
	return after, p.prunePolicies(ctx)
}

// pruneRepositories deletes the sources that no Kustomization reads any more.
func (p *pass) pruneRepositories(ctx context.Context) error {
	read := map[string]bool{}
	for _, kustomization := range p.live.kustomizations {
		read[kustomization.Spec.SourceRef.Kind+"/"+kustomization.Spec.SourceRef.Name] = true
	}
	kinds := map[string]string{}
	for _, source := range p.tenant.Spec.Sources {
		kind := sourcev1.GitRepositoryKind
		if source.OCI != nil {
			kind = sourcev1.OCIRepositoryKind
		}
		kinds[names.FluxObject(source.Name)] = kind
	}
	obsolete := func(kind, name string) bool {
		return kinds[name] != kind && !read[kind+"/"+name]
	}
	for _, name := range sortedKeys(p.live.gitRepositories) {
		if obsolete(sourcev1.GitRepositoryKind, name) {
			if err := p.Applier.Delete(ctx, p.live.gitRepositories[name]); err != nil {
				return err
			}
		}
	}
	for _, name := range sortedKeys(p.live.ociRepositories) {
		if obsolete(sourcev1.OCIRepositoryKind, name) {
			if err := p.Applier.Delete(ctx, p.live.ociRepositories[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// pruneTargets takes the git account out of the namespaces that no source
// targets any more, and last the operator itself.
func (p *pass) pruneTargets(ctx context.Context, targets []string) error {
	stays := func(namespace string) bool {
		return namespace == p.tenant.Namespace || slices.Contains(targets, namespace)
	}
	self := names.SelfBinding(p.tenant.Namespace)
	var last []client.Object
	for i := range p.live.bindings {
		binding := &p.live.bindings[i]
		switch {
		case stays(binding.Namespace):
		case binding.Name == self:
			last = append(last, binding)
		default:
			if err := p.Applier.Delete(ctx, binding); err != nil {
				return err
			}
		}
	}
	for i := range p.live.roles {
		role := &p.live.roles[i]
		if stays(role.Namespace) {
			continue
		}
		// The cache may be late, and the right to delete it gone with the binding.
		stored := &rbacv1.Role{}
		if err := p.Uncached.Get(ctx, client.ObjectKeyFromObject(role), stored); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return fmt.Errorf("cannot read Role %s: %w", client.ObjectKeyFromObject(role), err)
		}
		if !stored.DeletionTimestamp.IsZero() {
			// Somebody's finalizer holds it; there is nothing left to do.
			continue
		}
		if err := p.bindWhereLost(ctx, role.Namespace); err != nil {
			return err
		}
		if err := p.Applier.Delete(ctx, role); err != nil {
			return err
		}
	}
	if p.ownersUnsettled {
		// The operator has still to work there.
		last = nil
	}
	for _, binding := range last {
		if err := p.Applier.Delete(ctx, binding); err != nil {
			return err
		}
	}
	return nil
}

// bindWhereLost binds the operator once more into a namespace where it still has
// something to delete and somebody has taken its binding away.
func (p *pass) bindWhereLost(ctx context.Context, namespace string) error {
	for i := range p.live.bindings {
		if binding := &p.live.bindings[i]; binding.Namespace == namespace && binding.Name == names.SelfBinding(p.tenant.Namespace) {
			return nil
		}
	}
	ns := &corev1.Namespace{}
	if err := p.Uncached.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot read namespace %s: %w", namespace, err)
	}
	if !ns.DeletionTimestamp.IsZero() || !p.Config.Tenancy.IsTenant(tenancy.Namespace{Name: ns.Name, Labels: ns.Labels}) {
		return nil
	}
	bindings, err := stamp.SelfBindings(stamp.Input{Tenant: p.tenant, Config: p.Config.Stamp, Targets: []string{namespace}})
	if err != nil {
		return err
	}
	for _, obj := range bindings {
		binding, isBinding := obj.(*rbacv1.RoleBinding)
		if !isBinding || binding.Namespace != namespace {
			continue
		}
		if _, err := p.Applier.Apply(ctx, binding); err != nil {
			return err
		}
		if err := p.awaitAccess(ctx, namespace); err != nil {
			return err
		}
		stored := &rbacv1.RoleBinding{}
		if err := p.Uncached.Get(ctx, client.ObjectKeyFromObject(binding), stored); err != nil {
			return fmt.Errorf("cannot read RoleBinding %s: %w", client.ObjectKeyFromObject(binding), err)
		}
		p.live.bindings = append(p.live.bindings, *stored)
		return nil
	}
	return nil
}

// sooner returns the shorter of two waits, where 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// takeDown deletes a Kustomization, and releases it where its controller cannot.
// It returns after how long to look again.
func (p *pass) takeDown(ctx context.Context, kustomization *kustomizev1.Kustomization) (time.Duration, error) {
	if kustomization.DeletionTimestamp.IsZero() {
		return p.Config.FinalizerGrace, p.Applier.Delete(ctx, kustomization)
	}
	return p.rescue(ctx, kustomization)
}
