package fluxstatus_test

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

func condition(kind string, status metav1.ConditionStatus, reason, message string, generation int64) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: generation}
}

// TestSettled: what the last attempt came to stands while the next one is on its way.
func TestSettled(t *testing.T) {
	busy := condition(meta.ReadyCondition, metav1.ConditionUnknown, meta.ProgressingReason, "", 2)
	for name, tc := range map[string]struct {
		conditions []metav1.Condition
		status     metav1.ConditionStatus
		reason     string
	}{
		"nothing is said yet":               {},
		"it is about the spec of before":    {conditions: []metav1.Condition{condition(meta.ReadyCondition, metav1.ConditionTrue, "Succeeded", "", 1)}},
		"fetched":                           {conditions: []metav1.Condition{condition(meta.ReadyCondition, metav1.ConditionTrue, "Succeeded", "", 2)}, status: metav1.ConditionTrue, reason: "Succeeded"},
		"failed":                            {conditions: []metav1.Condition{condition(meta.ReadyCondition, metav1.ConditionFalse, "GitOperationFailed", "", 2)}, status: metav1.ConditionFalse, reason: "GitOperationFailed"},
		"on the way":                        {conditions: []metav1.Condition{busy}, status: metav1.ConditionUnknown, reason: meta.ProgressingReason},
		"tried again after a failure":       {conditions: []metav1.Condition{busy, condition(sourcev1.FetchFailedCondition, metav1.ConditionTrue, "GitOperationFailed", "", 2)}, status: metav1.ConditionFalse, reason: "GitOperationFailed"},
		"tried again, and was not stored":   {conditions: []metav1.Condition{busy, condition(sourcev1.StorageOperationFailedCondition, metav1.ConditionTrue, "DirCreationFailed", "", 2)}, status: metav1.ConditionFalse, reason: "DirCreationFailed"},
		"tried again, and was not verified": {conditions: []metav1.Condition{busy, condition(sourcev1.SourceVerifiedCondition, metav1.ConditionFalse, "InvalidCommitSignature", "", 2)}, status: metav1.ConditionFalse, reason: "InvalidCommitSignature"},
		"tried again, and is verified":      {conditions: []metav1.Condition{busy, condition(sourcev1.SourceVerifiedCondition, metav1.ConditionTrue, "Succeeded", "", 2)}, status: metav1.ConditionUnknown, reason: meta.ProgressingReason},
		"the failure was of another spec":   {conditions: []metav1.Condition{busy, condition(sourcev1.FetchFailedCondition, metav1.ConditionTrue, "GitOperationFailed", "", 1)}, status: metav1.ConditionUnknown, reason: meta.ProgressingReason},
	} {
		t.Run(name, func(t *testing.T) {
			fetched := fluxstatus.Fetched{Generation: 2, Conditions: tc.conditions}
			got := fetched.Settled()
			switch {
			case got == nil:
				if tc.status != "" {
					t.Errorf("nothing is said, want %s, %s", tc.status, tc.reason)
				}
			case got.Status != tc.status || got.Reason != tc.reason:
				t.Errorf("it is %s, %s; want %s, %s", got.Status, got.Reason, tc.status, tc.reason)
			}
		})
	}
}

// TestIsOnTheWay: what calls itself a failure and passes by itself.
func TestIsOnTheWay(t *testing.T) {
	const modified = `Operation cannot be fulfilled on helmreleases "db": the object has been modified; please apply your changes to the latest version and try again`
	for name, tc := range map[string]struct {
		condition metav1.Condition
		want      bool
		contended bool
	}{
		"progressing":                        {condition: condition("", metav1.ConditionUnknown, meta.ProgressingReason, "", 1), want: true},
		"applied":                            {condition: condition("", metav1.ConditionTrue, meta.ReconciliationSucceededReason, "", 1)},
		"a dependency":                       {condition: condition("", metav1.ConditionFalse, meta.DependencyNotReadyReason, "", 1), want: true},
		"health checks that gave way":        {condition: condition("", metav1.ConditionFalse, meta.HealthCheckCanceledReason, "", 1), want: true},
		"health checks that failed":          {condition: condition("", metav1.ConditionFalse, meta.HealthCheckFailedReason, "", 1)},
		"a source that is not ready":         {condition: condition("", metav1.ConditionFalse, meta.ArtifactFailedReason, "Source 'GitRepository/a/b' is not ready, artifact not found", 1), want: true},
		"a source that is not there":         {condition: condition("", metav1.ConditionFalse, meta.ArtifactFailedReason, `gitrepositories.source.toolkit.fluxcd.io "b" not found`, 1), want: true},
		"a folder that is not there":         {condition: condition("", metav1.ConditionFalse, meta.ArtifactFailedReason, "kustomization path not found: stat /x", 1)},
		"a write that another came before":   {condition: condition("", metav1.ConditionFalse, meta.ReconciliationFailedReason, modified, 1), want: true, contended: true},
		"a write that is refused":            {condition: condition("", metav1.ConditionFalse, meta.ReconciliationFailedReason, "forbidden", 1)},
		"a prune that another write stopped": {condition: condition("", metav1.ConditionFalse, meta.PruneFailedReason, modified, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fluxstatus.IsOnTheWay(&tc.condition); got != tc.want {
				t.Errorf("on the way: %t, want %t", got, tc.want)
			}
			if got := fluxstatus.IsContended(&tc.condition); got != tc.contended {
				t.Errorf("contended: %t, want %t", got, tc.contended)
			}
		})
	}
	if fluxstatus.IsContended(nil) {
		t.Error("nothing is contended")
	}
}

// TestFirstApplied: a revision that is applied again at each interval keeps its time.
func TestFirstApplied(t *testing.T) {
	at := func(minute int) metav1.Time {
		return metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 500, time.UTC))
	}
	entry := func(revision, status string, first int) meta.Snapshot {
		return meta.Snapshot{FirstReconciled: at(first), LastReconciled: at(50), LastReconciledStatus: status, Metadata: map[string]string{"revision": revision}}
	}
	turned := condition(meta.ReadyCondition, metav1.ConditionTrue, meta.ReconciliationSucceededReason, "", 1)
	turned.LastTransitionTime = at(30)
	failing := condition(meta.ReadyCondition, metav1.ConditionFalse, meta.ReconciliationFailedReason, "", 1)
	for name, tc := range map[string]struct {
		applied    string
		history    meta.History
		conditions []metav1.Condition
		want       int
	}{
		"nothing is applied":              {conditions: []metav1.Condition{turned}, want: -1},
		"since the first time":            {applied: "a", history: meta.History{entry("a", meta.ReconciliationSucceededReason, 10)}, conditions: []metav1.Condition{turned}, want: 10},
		"of two revisions, its own":       {applied: "a", history: meta.History{entry("b", meta.ReconciliationFailedReason, 20), entry("a", meta.ReconciliationSucceededReason, 10)}, want: 10},
		"not when it failed":              {applied: "a", history: meta.History{entry("a", meta.ReconciliationFailedReason, 5)}, conditions: []metav1.Condition{turned}, want: 30},
		"of an older Flux, without any":   {applied: "a", conditions: []metav1.Condition{turned}, want: 30},
		"which has failed since, nothing": {applied: "a", conditions: []metav1.Condition{failing}, want: -1},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kustomizev1.Kustomization{}
			k.Status.LastAppliedRevision, k.Status.History, k.Status.Conditions = tc.applied, tc.history, tc.conditions
			got := fluxstatus.FirstApplied(k)
			switch {
			case tc.want < 0:
				if got != nil {
					t.Errorf("applied at %s, want no time", got)
				}
			case got == nil || got.Sub(at(tc.want).Time).Abs() >= time.Second:
				t.Errorf("applied at %v, want %s", got, at(tc.want))
			}
		})
	}
}
