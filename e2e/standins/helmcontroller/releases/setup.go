package releases

import (
	"context"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/runtime/predicates"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Options say how the controller works.
type Options struct {
	// Workers is how many releases are made at a time.
	Workers int
	// MinRetryDelay and MaxRetryDelay bound the wait after a failure.
	MinRetryDelay, MaxRetryDelay time.Duration
	// ConfigSelector selects the Secrets and ConfigMaps whose change is heeded at once.
	ConfigSelector labels.Selector
}

// valuesIndex finds the HelmReleases that take values from a Secret or ConfigMap.
const valuesIndex = ".spec.valuesFrom"

// SetupWithManager has the manager run the controller.
func (r *Reconciler) SetupWithManager(ctx context.Context, manager ctrl.Manager, options Options) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &v2.HelmRelease{}, valuesIndex, func(object client.Object) []string {
		release, ok := object.(*v2.HelmRelease)
		if !ok {
			return nil
		}
		var keys []string
		for _, reference := range release.Spec.ValuesFrom {
			keys = append(keys, valuesKey(reference.Kind, release.Namespace, reference.Name))
		}
		return keys
	})
	if err != nil {
		return err
	}
	selected := builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}, predicate.NewPredicateFuncs(func(object client.Object) bool {
		return options.ConfigSelector.Matches(labels.Set(object.GetLabels()))
	}))
	return ctrl.NewControllerManagedBy(manager).
		// A change of metadata alone is not looked at, so that a finalizer that was taken
		// off stays off until something else happens.
		For(&v2.HelmRelease{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}))).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.takingValuesFrom("Secret")), selected).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(r.takingValuesFrom("ConfigMap")), selected).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](options.MinRetryDelay, options.MaxRetryDelay),
		}).
		Complete(r)
}

func valuesKey(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

func (r *Reconciler) takingValuesFrom(kind string) handler.MapFunc {
	return func(ctx context.Context, object client.Object) []reconcile.Request {
		list := &v2.HelmReleaseList{}
		key := valuesKey(kind, object.GetNamespace(), object.GetName())
		if err := r.Client.List(ctx, list, client.MatchingFields{valuesIndex: key}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot list the releases that take values", "from", key)
			return nil
		}
		var requests []reconcile.Request
		for i := range list.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}
