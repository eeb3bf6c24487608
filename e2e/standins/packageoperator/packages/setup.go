package packages

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// SetupWithManager has the manager run the controller. Nothing that happens to a Package,
// its source or its releases is too small to look again: not a status, nor a label.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("packages").
		For(&kinds.Package{}).
		Owns(&kinds.HelmRelease{}).
		Watches(&kinds.PackageSource{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, source client.Object) []reconcile.Request {
			return requests(source.GetName())
		})).
		Watches(&kinds.Package{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, pkg client.Object) []reconcile.Request {
			names, err := r.dependents(ctx, pkg.GetName())
			if err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "cannot find those that depend on the Package", "name", pkg.GetName())
			}
			return requests(names...)
		})).
		Complete(r)
}

func requests(names ...string) []reconcile.Request {
	var all []reconcile.Request
	for _, name := range names {
		all = append(all, reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
	return all
}
