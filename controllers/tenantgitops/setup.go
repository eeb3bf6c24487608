package tenantgitops

import (
	"context"
	"fmt"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/predicates"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// SetupWithManager adds the reconciler to a manager whose cache was made with
// CacheOptions.
func SetupWithManager(mgr ctrl.Manager, config Config) error {
	if err := config.Validate(); err != nil {
		return fmt.Errorf("the configuration of tenant gitops is invalid: %w", err)
	}
	metadataClient, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a metadata client: %w", err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a discovery client: %w", err)
	}
	r := &Reconciler{
		Client:   mgr.GetClient(),
		Uncached: mgr.GetAPIReader(),
		Applier:  apply.New(mgr.GetClient()),
		Events:   mgr.GetEventRecorder(apply.FieldManager),
		Config:   config,
		platform: &platformReader{client: mgr.GetClient(), discovery: discoveryClient, config: config},
		named:    newNamedObjectWatch(metadataClient),
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		r.named.Stop()
		return nil
	})); err != nil {
		return fmt.Errorf("cannot add the watch of named objects: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &kustomizev1.Kustomization{}, applicationsIndex, indexApplications); err != nil {
		return fmt.Errorf("cannot index Kustomizations by their applications: %w", err)
	}
	if r.releases, err = newReleaseWatch(mgr, handler.EnqueueRequestsFromMapFunc(r.tenantsOfRelease)); err != nil {
		return err
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &kustomizev1.Kustomization{}, claimedFrom, claimedNamespaces); err != nil {
		return fmt.Errorf("cannot index the claims of Kustomizations: %w", err)
	}
	toTenant := handler.EnqueueRequestsFromMapFunc(tenantOfLabel)
	inNamespace := func(namespace string) predicate.Predicate {
		return predicate.NewPredicateFuncs(func(obj client.Object) bool { return obj.GetNamespace() == namespace })
	}
	inControllers := builder.WithPredicates(inNamespace(config.Stamp.ControllersNamespace))
	reconciler, err := ctrl.NewControllerManagedBy(mgr).
		For(&gitopsv1.TenantGitOps{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}))).
		Watches(&kustomizev1.Kustomization{}, handler.EnqueueRequestsFromMapFunc(r.tenantsOfKustomization)).
		Watches(&sourcev1.GitRepository{}, handler.EnqueueRequestsFromMapFunc(r.tenantOfSource)).
		Watches(&sourcev1.OCIRepository{}, handler.EnqueueRequestsFromMapFunc(r.tenantOfSource)).
		// Another bound of artifacts lets sources go, or holds them.
		Watches(&gitopsv1.GitOpsParameters{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
			return r.allTenants(ctx)
		}), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&corev1.ServiceAccount{}, toTenant).
		Watches(&rbacv1.Role{}, toTenant).
		Watches(&rbacv1.RoleBinding{}, toTenant).
		Watches(&networkingv1.NetworkPolicy{}, toTenant, inControllers).
		Watches(&corev1.Pod{}, toTenant, inControllers).
		Watches(&appsv1.Deployment{}, toTenant, inControllers).
		// A controller that has become ready may let the next wave go.
		Watches(&appsv1.Deployment{}, handler.EnqueueRequestsFromMapFunc(r.outdatedTenants), inControllers, builder.WithPredicates(becameReady)).
		Watches(&appsv1.Deployment{}, r.platformChanged(), builder.WithPredicates(inNamespace(config.FluxNamespace), predicate.GenerationChangedPredicate{})).
		Watches(&discoveryv1.EndpointSlice{}, r.platformChanged()).
		Watches(&rbacv1.ClusterRole{}, r.platformChanged()).
		Watches(&corev1.Node{}, r.platformChanged(), builder.WithPredicates(addressesChanged)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.tenantsAbove)).
		WatchesRawSource(source.Channel(r.named.events, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: config.Concurrency}).
		Build(r)
	if err != nil {
		return fmt.Errorf("cannot set the TenantGitOps controller up: %w", err)
	}
	r.releases.notify(reconciler)
	return nil
}

func tenant(namespace string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
}

// tenantOfLabel leads from a stamped object to its TenantGitOps.
func tenantOfLabel(_ context.Context, obj client.Object) []reconcile.Request {
	if namespace := obj.GetLabels()[stamp.TenantLabel]; namespace != "" {
		return []reconcile.Request{tenant(namespace)}
	}
	return nil
}

// tenantsOfKustomization leads from a Kustomization to the TenantGitOps beside it, also
// where a tenant wrote it by hand, and to those of the tenants that have what it claims.
func (r *Reconciler) tenantsOfKustomization(_ context.Context, obj client.Object) []reconcile.Request {
	requests := []reconcile.Request{tenant(obj.GetNamespace())}
	if k, ok := obj.(*kustomizev1.Kustomization); ok {
		for _, claim := range ownership.Claims(k) {
			requests = append(requests, tenant(claim.Owner.Namespace))
		}
	}
	for _, namespace := range r.claims.waitingFor(client.ObjectKeyFromObject(obj)) {
		requests = append(requests, tenant(namespace))
	}
	return requests
}

// tenantOfSource leads from a source to the TenantGitOps that it was stamped for, or
// beside which somebody wrote it by hand. The platform has sources in other namespaces.
func (r *Reconciler) tenantOfSource(ctx context.Context, obj client.Object) []reconcile.Request {
	if requests := tenantOfLabel(ctx, obj); requests != nil {
		return requests
	}
	beside := tenant(obj.GetNamespace())
	if err := r.Client.Get(ctx, beside.NamespacedName, &gitopsv1.TenantGitOps{}); err != nil {
		if client.IgnoreNotFound(err) != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot read TenantGitOps", "namespace", obj.GetNamespace())
		}
		return nil
	}
	return []reconcile.Request{beside}
}

// tenantsAbove leads from a namespace to the TenantGitOps in it and in those of
// its ancestors, whose sources may target it.
func (r *Reconciler) tenantsAbove(_ context.Context, obj client.Object) []reconcile.Request {
	requests := []reconcile.Request{tenant(obj.GetName())}
	for label := range obj.GetLabels() {
		if ancestor, ok := strings.CutPrefix(label, tenancy.AncestorLabelPrefix); ok && ancestor != obj.GetName() {
			requests = append(requests, tenant(ancestor))
		}
	}
	return requests
}

// allTenants lists every TenantGitOps.
func (r *Reconciler) allTenants(ctx context.Context) []reconcile.Request {
	var list gitopsv1.TenantGitOpsList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list TenantGitOps")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		requests = append(requests, tenant(list.Items[i].Namespace))
	}
	return requests
}

// platformChanged forgets what is known of the platform, and looks at all tenants.
func (r *Reconciler) platformChanged() handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		r.platform.Invalidate()
		return r.allTenants(ctx)
	})
}

// outdatedTenants are those whose controllers have not the configuration of now.
func (r *Reconciler) outdatedTenants(ctx context.Context, _ client.Object) []reconcile.Request {
	digest, err := r.Config.Stamp.ControllerDigest()
	if err != nil {
		return nil
	}
	var deployments appsv1.DeploymentList
	if err := r.Client.List(ctx, &deployments, client.InNamespace(r.Config.Stamp.ControllersNamespace), client.HasLabels{stamp.TenantLabel}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the tenants' controllers")
		return nil
	}
	var requests []reconcile.Request
	for i := range deployments.Items {
		if deployments.Items[i].Annotations[stamp.ControllerConfigAnnotation] != digest {
			requests = append(requests, tenant(deployments.Items[i].Labels[stamp.TenantLabel]))
		}
	}
	return requests
}

var becameReady = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, isDeployment := e.ObjectOld.(*appsv1.Deployment)
		after, _ := e.ObjectNew.(*appsv1.Deployment)
		return isDeployment && !controllerReady(before) && controllerReady(after)
	},
	// One that is gone holds nothing up.
	DeleteFunc:  func(event.DeleteEvent) bool { return true },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

var addressesChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, isNode := e.ObjectOld.(*corev1.Node)
		after, _ := e.ObjectNew.(*corev1.Node)
		return isNode && fmt.Sprint(before.Status.Addresses) != fmt.Sprint(after.Status.Addresses)
	},
}
