package customizer

import (
	"context"
	"fmt"
	"slices"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// customizerCRD is the name of the Customizers' definition.
const customizerCRD = "customizers.gitops.cozystack.io"

// takeDown takes what was stamped for a deleted Customizer down, in steps, each of which waits
// for the one before: the Kustomization, which needs all else for as long as it deletes; the
// source; the rights; the account; the finalizer. What is left is read from the API server each
// time, so an operator killed between two steps goes on where it was. Namespaces stay.
func (r *Reconciler) takeDown(ctx context.Context, c *gitopsv1.Customizer) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(c, customizer.Finalizer) {
		return ctrl.Result{}, nil
	}
	if c.Status.Account == "" {
		// Nothing is stamped before it is decided.
		return ctrl.Result{}, r.patchFinalizers(ctx, c, controllerutil.RemoveFinalizer)
	}
	key := client.ObjectKey{Namespace: gitopsv1.CustomizerNamespace, Name: c.Status.Account}
	kustomization := &kustomizev1.Kustomization{}
	err := r.Live.Get(ctx, key, kustomization)
	switch {
	case err == nil && kustomization.Labels[customizer.Label] == c.Name:
		after, err := r.takeDownKustomization(ctx, c, kustomization)
		if err != nil {
			return ctrl.Result{}, err
		}
		verdict := customizer.Verdict{Ready: metav1.ConditionUnknown, Reason: gitopsv1.ReasonTerminating, Message: describeTakeDown(kustomization)}
		return ctrl.Result{RequeueAfter: after}, r.report(ctx, c, verdict, nil, nil)
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, fmt.Errorf("cannot read Kustomization %s: %w", key, err)
	}
	for _, source := range []client.Object{&sourcev1.GitRepository{}, &sourcev1.OCIRepository{}} {
		if err := r.remove(ctx, c, source, key); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.withdraw(ctx, c, nil); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.remove(ctx, c, &corev1.ServiceAccount{}, key); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.patchFinalizers(ctx, c, controllerutil.RemoveFinalizer)
}

// lookAgain is how often what goes is looked at: a Kustomization, of which an event tells
// sooner, or a namespace.
const lookAgain = 5 * time.Second

// takeDownKustomization deletes the Kustomization, with the policy of now: it may have changed
// since it was stamped. Where that deletes nothing, Flux is not waited for longer than the
// grace.
func (r *Reconciler) takeDownKustomization(ctx context.Context, c *gitopsv1.Customizer, kustomization *kustomizev1.Kustomization) (time.Duration, error) {
	if kustomization.DeletionTimestamp.IsZero() {
		stack, err := customizer.Stamp(c, c.Status.Account)
		if err != nil {
			return 0, err
		}
		spare, err := r.isReinstalled(ctx)
		if err != nil {
			return 0, err
		}
		settled := kustomization.DeepCopy()
		settled.Spec.DeletionPolicy = stack.Kustomization.Spec.DeletionPolicy
		settled.Spec.Prune = stack.Kustomization.Spec.Prune
		settled.Spec.Suspend = stack.Kustomization.Spec.Suspend
		if spare {
			settled.Spec.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
		}
		if err := r.Client.Patch(ctx, settled, client.MergeFrom(kustomization), fieldOwner); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("cannot change Kustomization %s: %w", client.ObjectKeyFromObject(kustomization), err)
		}
		*kustomization = *settled
		return lookAgain, r.Applier.Delete(ctx, kustomization)
	}
	if !slices.Contains(kustomization.Finalizers, kustomizev1.KustomizationFinalizer) || !deletesNothing(kustomization) {
		return lookAgain, nil
	}
	if left := r.Config.FinalizerGrace - time.Since(kustomization.DeletionTimestamp.Time); left > 0 {
		return left, nil
	}
	if err := r.Applier.Release(ctx, kustomization, kustomizev1.KustomizationFinalizer); err != nil {
		return 0, err
	}
	r.Events.Eventf(c, nil, corev1.EventTypeWarning, gitopsv1.ReasonFinalizerReleased, "Release",
		"took the finalizer off Kustomization %s, since Flux did not within %s; nothing was deleted by it", kustomization.Name, r.Config.FinalizerGrace)
	return time.Second, nil
}

// isReinstalled says whether the Customizers' definition itself is being deleted: somebody is
// reinstalling the operator, and nobody has asked for anything to go.
func (r *Reconciler) isReinstalled(ctx context.Context) (bool, error) {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := r.Live.Get(ctx, client.ObjectKey{Name: customizerCRD}, crd)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("cannot read CustomResourceDefinition %s: %w", customizerCRD, err)
	}
	return err != nil || !crd.DeletionTimestamp.IsZero(), nil
}

// deletesNothing says whether Flux has nothing to delete with a Kustomization.
func deletesNothing(k *kustomizev1.Kustomization) bool {
	if k.Spec.Suspend {
		return true
	}
	switch k.GetDeletionPolicy() {
	case kustomizev1.DeletionPolicyOrphan:
		return true
	case kustomizev1.DeletionPolicyMirrorPrune:
		return !k.Spec.Prune
	}
	return false
}

func describeTakeDown(k *kustomizev1.Kustomization) string {
	text := fmt.Sprintf("waiting for Kustomization %s/%s (%s)", k.Namespace, k.Name, k.GetDeletionPolicy())
	if deletesNothing(k) {
		return text
	}
	return fmt.Sprintf("%s to delete %d objects", text, customizer.Objects(k))
}
