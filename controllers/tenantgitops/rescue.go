package tenantgitops

import (
	"context"
	"slices"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// rescue takes Flux's finalizer off a Kustomization that is being deleted and
// whose controller has not done it in time, where that loses nothing: with
// Orphan the finalizer has nothing to do, and in a namespace that is being
// deleted everything goes anyway. With Delete, elsewhere, it waits for the
// controller, since only it can delete the applications. It returns after how
// long to look again.
func (p *pass) rescue(ctx context.Context, kustomization *kustomizev1.Kustomization) (time.Duration, error) {
	if !slices.Contains(kustomization.Finalizers, kustomizev1.KustomizationFinalizer) {
		return 0, nil
	}
	nothingToDo, err := p.deletesNothing(ctx, kustomization)
	if err != nil || !nothingToDo {
		return 0, err
	}
	if left := p.Config.FinalizerGrace - time.Since(kustomization.DeletionTimestamp.Time); left > 0 {
		return left, nil
	}
	if err := p.Applier.Release(ctx, kustomization, kustomizev1.KustomizationFinalizer); err != nil {
		return 0, err
	}
	ctrl.LoggerFrom(ctx).Info("released a Kustomization in place of its controller", "kustomization", kustomization.Name)
	if !p.terminating {
		// No event can be written into a namespace that is being deleted.
		p.Events.Eventf(p.tenant, kustomization, corev1.EventTypeWarning, gitopsv1.ReasonFinalizerReleased, "Release",
			"took the finalizer off Kustomization %s, since its controller did not within %s; nothing was deleted by it", kustomization.Name, p.Config.FinalizerGrace)
	}
	return 0, nil
}

// deletesNothing says whether finalizing a Kustomization would delete nothing
// that is not going anyway.
func (p *pass) deletesNothing(ctx context.Context, kustomization *kustomizev1.Kustomization) (bool, error) {
	if p.terminating {
		return true, nil
	}
	if kustomization.Spec.Suspend {
		// Flux deletes nothing for a Kustomization that is suspended.
		return true, nil
	}
	switch kustomization.GetDeletionPolicy() {
	case kustomizev1.DeletionPolicyOrphan:
		return true, nil
	case kustomizev1.DeletionPolicyMirrorPrune:
		if !kustomization.Spec.Prune {
			return true, nil
		}
	}
	target := kustomization.Spec.TargetNamespace
	if target == "" || target == p.tenant.Namespace {
		return false, nil
	}
	// Where the namespace that it applied to is gone, or going, so is all in it.
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	err := p.Client.Get(ctx, client.ObjectKey{Name: target}, ns)
	if client.IgnoreNotFound(err) != nil {
		return false, err
	}
	return err != nil || !ns.DeletionTimestamp.IsZero(), nil
}
