package readiness_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/readiness"
)

var verdicts = map[string]struct {
	verdict readiness.Verdict
	want    []string
}{
	"ready":                   {readiness.Verdict{Ready: metav1.ConditionTrue, Reason: "Succeeded"}, []string{"Ready=True"}},
	"on the way":              {readiness.Verdict{Ready: metav1.ConditionUnknown, Reason: "Progressing"}, []string{"Ready=Unknown", "Reconciling=True"}},
	"failed, but tries again": {readiness.Verdict{Ready: metav1.ConditionFalse, Reason: "Failed"}, []string{"Ready=False", "Reconciling=True"}},
	"stalled":                 {readiness.Verdict{Ready: metav1.ConditionFalse, Reason: "Refused", Stalled: true}, []string{"Ready=False", "Stalled=True"}},
}

// TestConditionsAreOfTheLastVerdict, whatever the one before was.
func TestConditionsAreOfTheLastVerdict(t *testing.T) {
	for before, first := range verdicts {
		for after, second := range verdicts {
			t.Run(before+", then "+after, func(t *testing.T) {
				var conditions []metav1.Condition
				readiness.Set(&conditions, 1, first.verdict)
				readiness.Set(&conditions, 2, second.verdict)
				var got []string
				for _, c := range conditions {
					got = append(got, c.Type+"="+string(c.Status))
					if c.Reason != second.verdict.Reason || c.ObservedGeneration != 2 {
						t.Errorf("%s is of reason %s and generation %d", c.Type, c.Reason, c.ObservedGeneration)
					}
				}
				slices.Sort(got)
				if !slices.Equal(got, second.want) {
					t.Errorf("conditions %v, want %v", got, second.want)
				}
			})
		}
	}
}

// TestTheSameVerdictChangesNothing: what was written long ago keeps its times, so that a pass
// that finds nothing new has nothing to write.
func TestTheSameVerdictChangesNothing(t *testing.T) {
	for name, one := range verdicts {
		t.Run(name, func(t *testing.T) {
			var conditions []metav1.Condition
			readiness.Set(&conditions, 1, one.verdict)
			for i := range conditions {
				conditions[i].LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
			}
			before := slices.Clone(conditions)
			readiness.Set(&conditions, 1, one.verdict)
			if !equality.Semantic.DeepEqual(before, conditions) {
				t.Errorf("conditions %v, and were %v", conditions, before)
			}
		})
	}
}
