// Package fluxstatus reads what Flux says of its objects: what an attempt has come to, and
// what is still on its way though a condition calls itself a failure. It is pure.
package fluxstatus

import (
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ApplyFailures are the reasons with which Flux ends an attempt to apply.
var ApplyFailures = []string{
	meta.ArtifactFailedReason, meta.BuildFailedReason, meta.ReconciliationFailedReason,
	meta.PruneFailedReason, meta.HealthCheckFailedReason,
}

// Fetched is what is read of a GitRepository or OCIRepository.
type Fetched struct {
	// Generation of the object's spec.
	Generation int64
	// Conditions of its status.
	Conditions []metav1.Condition
	// Artifact that was fetched last, if any was.
	Artifact *meta.Artifact
}

// ReadyCondition returns the Ready condition if it is about the object as it is now.
// Flux sets the status' observedGeneration only when it succeeds.
func ReadyCondition(conditions []metav1.Condition, generation int64) *metav1.Condition {
	condition := apimeta.FindStatusCondition(conditions, meta.ReadyCondition)
	if condition == nil || condition.ObservedGeneration < generation {
		return nil
	}
	return condition
}

// Settled is the Ready condition as it is now; while a repository is being fetched once more,
// what the last attempt came to stands. It is nil while nothing has been said.
func (f *Fetched) Settled() *metav1.Condition {
	condition := ReadyCondition(f.Conditions, f.Generation)
	if condition != nil && condition.Status == metav1.ConditionUnknown {
		if standing := f.standingFailure(); standing != nil {
			return &metav1.Condition{Status: metav1.ConditionFalse, Reason: standing.Reason, Message: standing.Message}
		}
	}
	return condition
}

// standingFailure is the failure that a repository says of itself beside its Ready
// condition, from one attempt to the end of the next.
func (f *Fetched) standingFailure() *metav1.Condition {
	for kind, failed := range map[string]metav1.ConditionStatus{
		sourcev1.FetchFailedCondition:            metav1.ConditionTrue,
		sourcev1.StorageOperationFailedCondition: metav1.ConditionTrue,
		sourcev1.SourceVerifiedCondition:         metav1.ConditionFalse,
	} {
		condition := apimeta.FindStatusCondition(f.Conditions, kind)
		if condition != nil && condition.Status == failed && condition.ObservedGeneration >= f.Generation {
			return condition
		}
	}
	return nil
}

// IsOnTheWay says whether Flux has still to come to an end, also where a condition
// calls itself a failure: a dependency is looked at again itself, the Kustomization was
// looked at before the repository was fetched, its health checks gave way to a newer
// attempt, or somebody else wrote at the same moment.
func IsOnTheWay(condition *metav1.Condition) bool {
	if condition.Status != metav1.ConditionFalse {
		return condition.Status == metav1.ConditionUnknown
	}
	switch condition.Reason {
	case meta.DependencyNotReadyReason, meta.HealthCheckCanceledReason:
		return true
	case meta.ReconciliationFailedReason:
		return IsContended(condition)
	case meta.ArtifactFailedReason:
		return strings.HasPrefix(condition.Message, "Source ") || strings.HasSuffix(condition.Message, `" not found`)
	default:
		return false
	}
}

// modified is how an API server refuses a write that another one has come before.
const modified = "the object has been modified; please apply your changes to the latest version"

// IsContended says whether Flux's last attempt to apply met a write of somebody else's to
// the same object. The applications API reads a HelmRelease and writes it, and
// helm-controller does the same to one that is new; whoever comes second is refused. It
// says so as an internal error, so that Flux's client does not try again by itself.
func IsContended(condition *metav1.Condition) bool {
	return condition != nil && condition.Status == metav1.ConditionFalse && condition.Reason == meta.ReconciliationFailedReason &&
		strings.Contains(condition.Message, modified)
}

// FirstApplied is when the applied revision was applied first. Flux notes each
// repetition; taking the first time keeps the status, and its writes, still.
func FirstApplied(k *kustomizev1.Kustomization) *metav1.Time {
	if k.Status.LastAppliedRevision == "" {
		return nil
	}
	for _, snapshot := range k.Status.History {
		if snapshot.LastReconciledStatus == meta.ReconciliationSucceededReason && snapshot.Metadata["revision"] == k.Status.LastAppliedRevision {
			first := metav1.NewTime(snapshot.FirstReconciled.Truncate(time.Second))
			return &first
		}
	}
	if ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition); ready != nil && ready.Status == metav1.ConditionTrue {
		return &ready.LastTransitionTime
	}
	return nil
}
