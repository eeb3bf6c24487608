// Package readiness writes the conditions by which kstatus, and with it Flux and kubectl wait,
// tells how an object of ours is: Ready, and Reconciling and Stalled where they hold. It is pure.
package readiness

import (
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Verdict is what a pass has come to.
type Verdict struct {
	// Ready, Reason and Message become the condition Ready.
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	// Stalled: it does not go on before somebody mends something.
	Stalled bool
}

// Set writes a verdict on an object of a generation. One that has not changed changes nothing,
// the times of transition neither: a condition that holds is never taken out and put back.
func Set(conditions *[]metav1.Condition, generation int64, v Verdict) {
	set := func(kind string, status metav1.ConditionStatus) {
		apimeta.SetStatusCondition(conditions, metav1.Condition{
			Type: kind, Status: status, Reason: v.Reason, Message: v.Message, ObservedGeneration: generation,
		})
	}
	setIf := func(kind string, holds bool) {
		if holds {
			set(kind, metav1.ConditionTrue)
		} else {
			apimeta.RemoveStatusCondition(conditions, kind)
		}
	}
	set(meta.ReadyCondition, v.Ready)
	setIf(meta.StalledCondition, v.Stalled)
	setIf(meta.ReconcilingCondition, !v.Stalled && v.Ready != metav1.ConditionTrue)
}
