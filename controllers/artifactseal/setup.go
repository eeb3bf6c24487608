package artifactseal

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
)

// SetupWithManager adds the reconciler to a manager whose cache holds the Deployments
// and NetworkPolicies of Flux's namespace.
func SetupWithManager(mgr ctrl.Manager, config Config) error {
	r := &Reconciler{
		Client:  mgr.GetClient(),
		Applier: apply.New(mgr.GetClient()),
		Events:  mgr.GetEventRecorder(apply.FieldManager),
		Config:  config,
	}
	theSeal := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: gitopsv1.GitOpsParametersName}}}
	})
	besideFlux := predicate.NewPredicateFuncs(func(obj client.Object) bool { return obj.GetNamespace() == config.FluxNamespace })
	err := ctrl.NewControllerManagedBy(mgr).
		Named("artifactseal").
		Watches(&gitopsv1.TenantGitOps{}, theSeal, builder.WithPredicates(comesOrGoes)).
		Watches(&gitopsv1.GitOpsParameters{}, theSeal, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&appsv1.Deployment{}, theSeal, builder.WithPredicates(besideFlux, predicate.GenerationChangedPredicate{})).
		Watches(&networkingv1.NetworkPolicy{}, theSeal, builder.WithPredicates(besideFlux)).
		Watches(&discoveryv1.EndpointSlice{}, theSeal).
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot set the controller of the artifact seal up: %w", err)
	}
	return nil
}

// comesOrGoes: only how many there are matters.
var comesOrGoes = predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
