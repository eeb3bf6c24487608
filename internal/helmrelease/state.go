package helmrelease

import (
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/healthcheck"
)

// releasedCondition is helm-controller's condition of its last attempt. The applications
// API shows it and Ready on the application, and no other.
const releasedCondition = "Released"

// notAttempted are reasons of the condition Ready with which helm-controller came to no
// attempt, for want of what does not come by itself: a Secret that the platform makes
// before any application, or a chart that can be read. A source of charts that is not ready
// yet is none of them. Flux, where it waits for an application, does so until its timeout.
var notAttempted = []string{"ValuesError", "ArtifactFailed"}

// Phase is how far a release has come.
type Phase int

const (
	// Pending means that helm-controller has not come to an end with what is asked for.
	Pending Phase = iota
	// Ready means that what is asked for runs.
	Ready
	// Failed means that the last attempt failed, or that none can be made.
	Failed
)

// State is the phase of a release, and what helm-controller says to it.
type State struct {
	Phase Phase
	// Message is that of a condition which the application shows too, so whoever reads the
	// application has read it.
	Message string
}

// State computes the state of a release from its conditions.
func (r *HelmRelease) State() State {
	ready := r.condition(meta.ReadyCondition)
	if ready == nil {
		return State{}
	}
	state := State{Message: ready.Message}
	switch ready.Status {
	case metav1.ConditionTrue:
		if r.DeletionTimestamp.IsZero() {
			state.Phase = Ready
		}
		return state
	case metav1.ConditionFalse:
		if slices.Contains(healthcheck.FailureReasons, ready.Reason) || slices.Contains(notAttempted, ready.Reason) {
			state.Phase = Failed
			return state
		}
	default:
		// It tries again; what the last attempt came to stands until this one has ended, or
		// each attempt would be news twice.
		released := r.condition(releasedCondition)
		if released != nil && released.Status == metav1.ConditionFalse && slices.Contains(healthcheck.FailureReasons, released.Reason) {
			return State{Phase: Failed, Message: released.Message}
		}
	}
	if stalled := r.condition(meta.StalledCondition); stalled != nil && stalled.Status == metav1.ConditionTrue {
		state.Phase = Failed
	}
	return state
}

// condition returns a condition if it is about the release as it is now. The status'
// observedGeneration does not tell: helm-controller sets it when it is done.
func (r *HelmRelease) condition(kind string) *metav1.Condition {
	condition := apimeta.FindStatusCondition(r.Status.Conditions, kind)
	if condition == nil || condition.ObservedGeneration != 0 && condition.ObservedGeneration < r.Generation {
		return nil
	}
	return condition
}
