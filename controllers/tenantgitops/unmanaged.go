package tenantgitops

import (
	"cmp"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

// maxUnmanagedMessage bounds what is said of one object written by hand, in bytes.
const maxUnmanagedMessage = 512

// unmanaged lists what somebody wrote by hand beside the TenantGitOps, by kind and name,
// as far as the status has room, and counts all. Before is what was said last.
func (l *live) unmanaged(bound resource.Quantity, before []gitopsv1.UnmanagedObject) ([]gitopsv1.UnmanagedObject, int64) {
	var all []gitopsv1.UnmanagedObject
	for _, kustomization := range l.kustomizations {
		if isStamped(kustomization) {
			continue
		}
		object := gitopsv1.UnmanagedObject{
			Kind: kustomizev1.KustomizationKind, Name: kustomization.Name,
			Revision: kustomization.Status.LastAppliedRevision, Suspended: kustomization.Spec.Suspend,
		}
		all = append(all, withState(object, kustomization.Status.Conditions, kustomization.Generation, before))
	}
	for _, source := range l.sources {
		if isStamped(source.object) {
			continue
		}
		object := gitopsv1.UnmanagedObject{Kind: source.kind, Name: source.object.GetName(), Suspended: source.suspended}
		if source.stored.Artifact != nil {
			object.Revision = source.stored.Artifact.Revision
		}
		if source.stored.Held != "" && oversize.MustBeHeld(source.stored, source.stored.Content, bound) {
			object.Ready, object.Reason = metav1.ConditionFalse, gitopsv1.ReasonArtifactTooLarge
			object.Message = oversize.Message(source.stored.Size(), bound)
			all = append(all, object)
			continue
		}
		all = append(all, withState(object, source.stored.Conditions, source.stored.Generation, before))
	}
	slices.SortFunc(all, func(a, b gitopsv1.UnmanagedObject) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	count := int64(len(all))
	if count > gitopsv1.MaxUnmanaged {
		all = all[:gitopsv1.MaxUnmanaged]
	}
	return all, count
}

// withState fills in what Flux says. While Flux does again what it has done, at an
// interval, what that came to stands: else each time would be a write.
func withState(object gitopsv1.UnmanagedObject, conditions []metav1.Condition, generation int64, before []gitopsv1.UnmanagedObject) gitopsv1.UnmanagedObject {
	object.Ready = metav1.ConditionUnknown
	condition := fluxstatus.ReadyCondition(conditions, generation)
	if condition == nil {
		return object
	}
	if condition.Status == metav1.ConditionUnknown {
		for _, was := range before {
			if was.Kind == object.Kind && was.Name == object.Name && was.Revision == object.Revision && was.Reason != gitopsv1.ReasonArtifactTooLarge {
				object.Ready, object.Reason, object.Message = was.Ready, was.Reason, was.Message
				return object
			}
		}
	}
	object.Ready, object.Reason = condition.Status, condition.Reason
	object.Message = condition.Message
	if len(object.Message) > maxUnmanagedMessage {
		object.Message = strings.ToValidUTF8(object.Message[:maxUnmanagedMessage], "") + "…"
	}
	return object
}
