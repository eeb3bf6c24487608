package customizer

import (
	"context"
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/runtime/predicates"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// SetupWithManager adds the reconciler to a manager.
func SetupWithManager(mgr ctrl.Manager, config Config) error {
	flux, err := fluxCache(mgr)
	if err != nil {
		return err
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("cannot make a discovery client: %w", err)
	}
	r := &Reconciler{
		Client: mgr.GetClient(), Flux: flux, Live: mgr.GetAPIReader(), Applier: apply.New(mgr.GetClient()),
		Served: &servedResources{discovery: discoveryClient}, Events: mgr.GetEventRecorder(apply.FieldManager), Config: config,
	}
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{})
	_, err = ctrl.NewControllerManagedBy(mgr).
		For(&gitopsv1.Customizer{}, builder.WithPredicates(changed)).
		Watches(&corev1.ServiceAccount{}, toCustomizer).
		Watches(&rbacv1.RoleBinding{}, toCustomizer).
		WatchesRawSource(source.Kind[client.Object](flux, &kustomizev1.Kustomization{}, toCustomizer)).
		WatchesRawSource(source.Kind[client.Object](flux, &sourcev1.GitRepository{}, toCustomizer)).
		WatchesRawSource(source.Kind[client.Object](flux, &sourcev1.OCIRepository{}, toCustomizer)).
		// One at a time: they decide among each other whose account is the first.
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Named("customizer").
		Build(r)
	if err != nil {
		return fmt.Errorf("cannot set the Customizer controller up: %w", err)
	}
	return nil
}

// toCustomizer leads from a stamped object to its Customizer.
var toCustomizer = handler.EnqueueRequestsFromMapFunc(func(_ context.Context, obj client.Object) []reconcile.Request {
	if name := obj.GetLabels()[customizer.Label]; name != "" {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
	}
	return nil
})

// fluxCache holds the Flux objects of Customizers alone: the manager's is for those of tenants.
func fluxCache(mgr ctrl.Manager) (cache.Cache, error) {
	ofCustomizers, err := labels.NewRequirement(customizer.Label, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	flux, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:                  mgr.GetHTTPClient(),
		Scheme:                      mgr.GetScheme(),
		Mapper:                      mgr.GetRESTMapper(),
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		DefaultNamespaces:           map[string]cache.Config{gitopsv1.CustomizerNamespace: {LabelSelector: labels.NewSelector().Add(*ofCustomizers)}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache of the Customizers' Flux objects: %w", err)
	}
	if err := mgr.Add(flux); err != nil {
		return nil, fmt.Errorf("cannot add the cache of the Customizers' Flux objects: %w", err)
	}
	return flux, nil
}
