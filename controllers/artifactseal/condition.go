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

// The conditions on GitOpsParameters.
const (
	// ConditionType says whether the artifacts are sealed.
	ConditionType = "ArtifactsSealed"
	// ContainedConditionType says whether source-controller is kept from what is internal.
	ContainedConditionType = "SourcesContained"
)

// report writes verdicts, by the types of their conditions, into the status of
// GitOpsParameters where they changed, and records an event for each that is another.
// One that is missing is left as it was. Without that object there is nowhere to write them; when somebody makes it, they are
// written.
func (r *Reconciler) report(ctx context.Context, verdicts map[string]seal.Verdict) error {
	parameters := &gitopsv1.GitOpsParameters{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("cannot read GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	changed := parameters.DeepCopy()
	var news []string
	written := false
	for _, kind := range []string{ConditionType, ContainedConditionType} {
		verdict, told := verdicts[kind]
		if !told {
			continue
		}
		was := apimeta.FindStatusCondition(parameters.Status.Conditions, kind)
		written = apimeta.SetStatusCondition(&changed.Status.Conditions, metav1.Condition{
			Type: kind, Status: verdict.Status(), Reason: verdict.Reason, Message: verdict.Message, ObservedGeneration: parameters.Generation,
		}) || written
		if was == nil || was.Status != verdict.Status() || was.Reason != verdict.Reason {
			news = append(news, kind)
		}
	}
	if !written {
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
	for _, condition := range news {
		verdict, kind := verdicts[condition], corev1.EventTypeNormal
		if !verdict.Sealed && verdict.Reason != gitopsv1.ReasonNoTenantGitOps {
			kind = corev1.EventTypeWarning
		}
		action := "Seal"
		if condition == ContainedConditionType {
			action = "Contain"
		}
		r.Events.Eventf(changed, nil, kind, verdict.Reason, action, "%s", eventText(verdict.Message))
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
