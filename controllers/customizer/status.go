package customizer

import (
	"context"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/customizer"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
	"github.com/cozystack/gitops-operator/internal/readiness"
)

const fieldOwner = client.FieldOwner(apply.FieldManager)

const (
	// maxMessage bounds the message of a condition; the API takes 32 KiB.
	maxMessage = 4096
	// maxEvent is the API's bound of an event's note, in bytes.
	maxEvent = 1024
	// maxUnresolved bounds the list of resources that are not served.
	maxUnresolved = 50
)

// report writes the status, if it is another than before, and an Event for another state. Where
// nothing could be seen of Flux, what was seen last stays.
func (r *Reconciler) report(ctx context.Context, c *gitopsv1.Customizer, verdict customizer.Verdict, seen *customizer.Seen, unresolved []string) error {
	before := c.DeepCopy()
	verdict.Message = cut(verdict.Message, maxMessage)
	status := &c.Status
	readiness.Set(&status.Conditions, c.Generation, readiness.Verdict(verdict))
	status.ObservedGeneration = c.Generation
	if seen != nil {
		setSeen(c, *seen)
		setUnresolved(c, unresolved)
		status.OwnedNamespaces = c.Spec.RBAC.OwnedNamespaces
		// What was asked for has been passed on.
		status.LastHandledReconcileAt = requested(c)
	}
	if equality.Semantic.DeepEqual(before.Status, *status) {
		return nil
	}
	if err := r.patchStatus(ctx, before, c); err != nil {
		return err
	}
	r.recordEvent(before, c, verdict)
	return nil
}

func setSeen(c *gitopsv1.Customizer, seen customizer.Seen) {
	status := &c.Status
	status.Revision, status.AppliedRevision, status.LastAppliedAt = "", "", nil
	if seen.Fetched != nil && seen.Fetched.Artifact != nil {
		status.Revision = seen.Fetched.Artifact.Revision
	}
	if seen.Kustomization != nil {
		status.AppliedRevision = seen.Kustomization.Status.LastAppliedRevision
		status.LastAppliedAt = fluxstatus.FirstApplied(seen.Kustomization)
	}
	status.Objects = customizer.Objects(seen.Kustomization)
}

// setUnresolved lists the rules that are for nothing. They are no failure: the profile's roles
// are for what a platform may have, and not every one has all of it.
func setUnresolved(c *gitopsv1.Customizer, unresolved []string) {
	if len(unresolved) == 0 {
		c.Status.UnresolvedRules = nil
		apimeta.RemoveStatusCondition(&c.Status.Conditions, gitopsv1.RulesResolvedCondition)
		return
	}
	message := fmt.Sprintf("this cluster does not serve %s: the rules for them have no effect until it does; check spec.rbac.extraRules for typing errors", strings.Join(unresolved, ", "))
	apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: gitopsv1.RulesResolvedCondition, Status: metav1.ConditionFalse, Reason: gitopsv1.ReasonRulesUnresolved,
		Message: cut(message, maxMessage), ObservedGeneration: c.Generation,
	})
	c.Status.UnresolvedRules = unresolved[:min(len(unresolved), maxUnresolved)]
}

func (r *Reconciler) patchStatus(ctx context.Context, before, c *gitopsv1.Customizer) error {
	patched := c.DeepCopy()
	err := r.Client.Status().Patch(ctx, patched, client.MergeFrom(before), fieldOwner)
	if err != nil {
		return fmt.Errorf("cannot write the status of Customizer %s: %w", c.Name, err)
	}
	c.ResourceVersion = patched.ResourceVersion
	return nil
}

func (r *Reconciler) patchFinalizers(ctx context.Context, c *gitopsv1.Customizer, change func(client.Object, string) bool) error {
	before := c.DeepCopy()
	if !change(c, customizer.Finalizer) {
		return nil
	}
	patched := c.DeepCopy()
	err := r.Client.Patch(ctx, patched, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldOwner)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot write the finalizers of Customizer %s: %w", c.Name, err)
	}
	c.ResourceVersion = patched.ResourceVersion
	return nil
}

// recordEvent tells of another state, and of another revision that is applied. Being on the way
// is no state to be told of.
func (r *Reconciler) recordEvent(before, c *gitopsv1.Customizer, verdict customizer.Verdict) {
	if verdict.Ready == metav1.ConditionUnknown && verdict.Reason != gitopsv1.ReasonTerminating {
		return
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, meta.ReadyCondition)
	if was != nil && was.Status == verdict.Ready && was.Reason == verdict.Reason &&
		(verdict.Reason != gitopsv1.ReasonSucceeded || before.Status.AppliedRevision == c.Status.AppliedRevision) {
		return
	}
	kind := corev1.EventTypeNormal
	if verdict.Ready == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(c, nil, kind, verdict.Reason, "Reconcile", "%s", cut(verdict.Message, maxEvent))
}

func cut(message string, most int) string {
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most-len("…")], "") + "…"
}
