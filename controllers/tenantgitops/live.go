package tenantgitops

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// live is what the cluster holds for one tenant, as the cache has it. The maps
// are by name.
type live struct {
	// kustomizations has every Kustomization of the tenant's shard, those that a
	// tenant wrote by hand too: the tenant's controller runs them all.
	kustomizations  map[string]*kustomizev1.Kustomization
	gitRepositories map[string]*sourcev1.GitRepository
	ociRepositories map[string]*sourcev1.OCIRepository
	// sources are all GitRepositories and OCIRepositories of the namespace, those that
	// somebody wrote by hand too, by kind and name.
	sources         []tenantSource
	serviceAccounts []corev1.ServiceAccount
	roles           []rbacv1.Role
	bindings        []rbacv1.RoleBinding
	deployment      *appsv1.Deployment
	networkPolicies []networkingv1.NetworkPolicy
	pods            []corev1.Pod
}

// readLive reads from the cache, or, where nothing may be missed, from the API
// server.
func (p *pass) readLive(ctx context.Context, reader client.Reader) (*live, error) {
	tenant := p.tenant.Namespace
	controllers := p.Config.Stamp.ControllersNamespace
	ours := client.MatchingLabels{stamp.TenantLabel: tenant}
	l := &live{
		kustomizations:  map[string]*kustomizev1.Kustomization{},
		gitRepositories: map[string]*sourcev1.GitRepository{},
		ociRepositories: map[string]*sourcev1.OCIRepository{},
	}
	var kustomizations kustomizev1.KustomizationList
	var gitRepositories sourcev1.GitRepositoryList
	var ociRepositories sourcev1.OCIRepositoryList
	var accounts corev1.ServiceAccountList
	var roles rbacv1.RoleList
	var bindings rbacv1.RoleBindingList
	var deployments appsv1.DeploymentList
	var policies networkingv1.NetworkPolicyList
	var pods corev1.PodList
	for _, list := range []struct {
		into    client.ObjectList
		options []client.ListOption
	}{
		{&kustomizations, []client.ListOption{client.InNamespace(tenant), client.MatchingLabels{platform.ShardLabel: names.Shard(tenant)}}},
		{&gitRepositories, []client.ListOption{client.InNamespace(tenant)}},
		{&ociRepositories, []client.ListOption{client.InNamespace(tenant)}},
		{&accounts, []client.ListOption{ours}},
		{&roles, []client.ListOption{ours}},
		{&bindings, []client.ListOption{ours}},
		{&deployments, []client.ListOption{client.InNamespace(controllers), ours}},
		{&policies, []client.ListOption{client.InNamespace(controllers), ours}},
		{&pods, []client.ListOption{client.InNamespace(controllers), ours}},
	} {
		if err := reader.List(ctx, list.into, list.options...); err != nil {
			return nil, fmt.Errorf("cannot list %T of tenant %s: %w", list.into, tenant, err)
		}
	}
	// One whose shard label somebody took off was stamped all the same. The cache
	// does not hold it; the API server does.
	var stamped kustomizev1.KustomizationList
	if err := reader.List(ctx, &stamped, client.InNamespace(tenant), ours); err != nil {
		return nil, fmt.Errorf("cannot list the Kustomizations stamped for tenant %s: %w", tenant, err)
	}
	for i := range stamped.Items {
		l.kustomizations[stamped.Items[i].Name] = &stamped.Items[i]
	}
	for i := range kustomizations.Items {
		l.kustomizations[kustomizations.Items[i].Name] = &kustomizations.Items[i]
	}
	for i := range gitRepositories.Items {
		repository := &gitRepositories.Items[i]
		l.sources = append(l.sources, gitSource(repository))
		if isStamped(repository) {
			l.gitRepositories[repository.Name] = repository
		}
	}
	for i := range ociRepositories.Items {
		repository := &ociRepositories.Items[i]
		l.sources = append(l.sources, ociSource(repository))
		if isStamped(repository) {
			l.ociRepositories[repository.Name] = repository
		}
	}
	slices.SortFunc(l.sources, func(a, b tenantSource) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), strings.Compare(a.object.GetName(), b.object.GetName()))
	})
	for i := range deployments.Items {
		if deployments.Items[i].Name == names.Controller(tenant) {
			l.deployment = &deployments.Items[i]
		}
	}
	l.serviceAccounts = accounts.Items
	l.roles = slices.DeleteFunc(roles.Items, func(r rbacv1.Role) bool { return !isStampedName(tenant, r.Namespace, r.Name) })
	l.bindings = slices.DeleteFunc(bindings.Items, func(b rbacv1.RoleBinding) bool {
		return b.Name != names.SelfBinding(tenant) && !isStampedName(tenant, b.Namespace, b.Name)
	})
	l.networkPolicies, l.pods = policies.Items, pods.Items
	return l, nil
}

// isStampedName says whether a Role of that name may be the tenant's: anybody can put the
// label on another.
func isStampedName(tenant, namespace, name string) bool {
	return name == names.GitRole(tenant, namespace) || namespace == tenant && name == names.ControllerRole
}

// isStamped says whether a Flux object was stamped for the TenantGitOps beside it.
func isStamped(obj client.Object) bool {
	labels := obj.GetLabels()
	return labels[stamp.TenantLabel] == obj.GetNamespace() && labels[stamp.ManagedByLabel] == stamp.ManagedBy
}

// controllerReady says whether a controller's pod runs, as it was stamped last.
func controllerReady(deployment *appsv1.Deployment) bool {
	if deployment == nil || !deployment.DeletionTimestamp.IsZero() {
		return false
	}
	status := deployment.Status
	return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas > 0 && status.ReadyReplicas > 0
}

// fluxObject returns the live object of the same kind and name, or nil.
func (l *live) fluxObject(obj client.Object) client.Object {
	switch obj.(type) {
	case *kustomizev1.Kustomization:
		if found, ok := l.kustomizations[obj.GetName()]; ok {
			return found
		}
	case *sourcev1.GitRepository:
		if found, ok := l.gitRepositories[obj.GetName()]; ok {
			return found
		}
	case *sourcev1.OCIRepository:
		if found, ok := l.ociRepositories[obj.GetName()]; ok {
			return found
		}
	}
	return nil
}

// builtWith says by which rules the artifact of a source was put together, as far as
// they are not the default. Flux applies an artifact again when its revision changes;
// with other rules the same revision has another content.
func (l *live) builtWith(source gitopsv1.Source) string {
	var rules []any
	name := names.FluxObject(source.Name)
	if repository, ok := l.gitRepositories[name]; ok && source.Git != nil {
		status := repository.Status
		if status.ObservedIgnore != nil || status.ObservedRecurseSubmodules || len(status.ObservedSparseCheckout) > 0 {
			rules = []any{status.ObservedIgnore, status.ObservedRecurseSubmodules, status.ObservedSparseCheckout}
		}
	}
	if repository, ok := l.ociRepositories[name]; ok && source.OCI != nil {
		status := repository.Status
		if status.ObservedIgnore != nil || status.ObservedLayerSelector != nil {
			rules = []any{status.ObservedIgnore, status.ObservedLayerSelector}
		}
	}
	if rules == nil {
		return ""
	}
	// Strings and booleans: this cannot fail.
	digest, _ := stamp.Digest(rules)
	return digest
}

// deletedAccounts are the accounts, Roles and bindings that are being deleted and
// held by the teardown finalizer; the operator's own binding is last, since the
// others cannot be let go without it.
func (l *live) deletedAccounts() []client.Object {
	var deleted, self []client.Object
	add := func(obj client.Object) {
		switch {
		case obj.GetDeletionTimestamp() == nil || len(obj.GetFinalizers()) == 0:
		case obj.GetName() == names.SelfBinding(obj.GetNamespace()):
			self = append(self, obj)
		default:
			deleted = append(deleted, obj)
		}
	}
	for i := range l.serviceAccounts {
		add(&l.serviceAccounts[i])
	}
	for i := range l.roles {
		add(&l.roles[i])
	}
	for i := range l.bindings {
		add(&l.bindings[i])
	}
	return append(deleted, self...)
}
