// Package customizeroff tells who makes a Customizer that the admin tier is switched off: all
// that the operator has no rights for would else just not happen.
package customizeroff

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/readiness"
)

// message says the mend. What was stamped before the tier was switched off goes on by itself:
// it is Flux that applies it.
const message = "Customizers are switched off: install config/customizer in place of config/default; what was stamped before stays as it is, and is taken down when they are switched on again"

// Reconciler tells of each Customizer that nothing comes of it.
type Reconciler struct {
	Client client.Client
	Events events.EventRecorder
}

// SetupWithManager adds the reconciler to a manager that has none for Customizers.
func SetupWithManager(mgr ctrl.Manager) error {
	r := &Reconciler{Client: mgr.GetClient(), Events: mgr.GetEventRecorder(apply.FieldManager)}
	err := ctrl.NewControllerManagedBy(mgr).
		For(&gitopsv1.Customizer{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Named("customizer-off").
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot set up who tells that Customizers are switched off: %w", err)
	}
	return nil
}

// Reconcile writes the condition, once.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	c := &gitopsv1.Customizer{}
	if err := r.Client.Get(ctx, request.NamespacedName, c); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := c.DeepCopy()
	readiness.Set(&c.Status.Conditions, c.Generation, readiness.Verdict{
		Ready: metav1.ConditionFalse, Reason: gitopsv1.ReasonSwitchedOff, Message: message, Stalled: true,
	})
	c.Status.ObservedGeneration = c.Generation
	if equality.Semantic.DeepEqual(before.Status, c.Status) {
		return ctrl.Result{}, nil
	}
	if err := r.Client.Status().Patch(ctx, c, client.MergeFrom(before), client.FieldOwner(apply.FieldManager)); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(fmt.Errorf("cannot write the status of Customizer %s: %w", c.Name, err))
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, gitopsv1.ReasonSwitchedOff, "Reconcile", "%s", message)
	return ctrl.Result{}, nil
}
