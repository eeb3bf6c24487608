package artifactseal

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/seal"
)

// ConditionType is the type of the condition on GitOpsParameters.
const ConditionType = "ArtifactsSealed"

// report writes the verdict into the status of GitOpsParameters where it changed, and
// records an event where it is another one. Without that object there is nowhere to
// write it; when somebody makes it, it is written.
func (r *Reconciler) report(ctx context.Context, verdict seal.Verdict) error {
	parameters := &gitopsv1.GitOpsParameters{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("cannot read GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	changed := parameters.DeepCopy()
	was := apimeta.FindStatusCondition(parameters.Status.Conditions, ConditionType)
	condition := metav1.Condition{
		Type: ConditionType, Status: verdict.Status(), Reason: verdict.Reason, Message: verdict.Message, ObservedGeneration: parameters.Generation,
	}
	if !apimeta.SetStatusCondition(&changed.Status.Conditions, condition) {
		return nil
	}
	// With the resource version: conditions are a list, and others may write to it.
	patch := client.MergeFromWithOptions(parameters, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, changed, patch, client.FieldOwner(apply.FieldManager)); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("cannot write the status of GitOpsParameters %s: %w", parameters.Name, err)
	}
	if was == nil || was.Status != condition.Status || was.Reason != condition.Reason {
		kind := corev1.EventTypeNormal
		if !verdict.Sealed && verdict.Reason != gitopsv1.ReasonNoTenantGitOps {
			kind = corev1.EventTypeWarning
		}
		r.Events.Eventf(changed, nil, kind, verdict.Reason, "Seal", "%s", eventText(verdict.Message))
	}
	return nil
}

// maxEvent is the API's bound of an event's note, in bytes.
const maxEvent = 1024

func eventText(message string) string {
	if len(message) <= maxEvent {
		return message
	}
	return strings.ToValidUTF8(message[:maxEvent], "")
}
