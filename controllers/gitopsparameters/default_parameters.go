// Package gitopsparameters sees to it that there is a GitOpsParameters for the admission
// policies to read: without one they refuse every write they are asked about.
package gitopsparameters

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
)

// Reconciler makes the one GitOpsParameters, with the defaults of its schema.
type Reconciler struct {
	Client client.Client
}

// SetupWithManager adds the reconciler to a manager.
func SetupWithManager(mgr ctrl.Manager) error {
	r := &Reconciler{Client: mgr.GetClient()}
	// Nothing is there to be told of before the first one.
	start := make(chan event.GenericEvent, 1)
	start <- event.GenericEvent{Object: parameters()}
	gone := predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(event.UpdateEvent) bool { return false },
	}
	err := ctrl.NewControllerManagedBy(mgr).
		For(&gitopsv1.GitOpsParameters{}, builder.WithPredicates(gone)).
		WatchesRawSource(source.Channel(start, &handler.EnqueueRequestForObject{})).
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot set the GitOpsParameters controller up: %w", err)
	}
	return nil
}

// Reconcile creates the object where it is missing.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(parameters()), parameters())
	if err == nil {
		return reconcile.Result{}, nil
	}
	if !apierrors.IsNotFound(err) {
		return reconcile.Result{}, fmt.Errorf("cannot read GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	err = r.Client.Create(ctx, parameters(), client.FieldOwner(apply.FieldManager))
	if apierrors.IsAlreadyExists(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("cannot create GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	ctrl.LoggerFrom(ctx).Info("created the GitOpsParameters with its defaults", "name", gitopsv1.GitOpsParametersName)
	return reconcile.Result{}, nil
}

func parameters() *gitopsv1.GitOpsParameters {
	return &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
}
