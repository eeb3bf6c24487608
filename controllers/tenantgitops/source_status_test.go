package tenantgitops

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

const (
	oldRevision = "main@sha1:1111"
	newRevision = "main@sha1:2222"
)

// condition is a Ready condition of a Flux object, about its generation 2 unless said.
type condition struct {
	status          metav1.ConditionStatus
	reason, message string
	generation      int64
}

func (c condition) list() []metav1.Condition {
	if c.status == "" {
		return nil
	}
	if c.generation == 0 {
		c.generation = 2
	}
	return []metav1.Condition{{Type: meta.ReadyCondition, Status: c.status, Reason: c.reason, Message: c.message, ObservedGeneration: c.generation}}
}

// TestSourceStatus goes through what Flux may say of a source at generation 2, of which
// the new revision is fetched. Flux' own observedGeneration stays behind: it is set on
// success only.
func TestSourceStatus(t *testing.T) {
	fetched := condition{status: metav1.ConditionTrue, reason: "Succeeded"}
	applied := gitopsv1.SourceStatus{Ready: metav1.ConditionTrue, Reason: gitopsv1.ReasonSucceeded, Message: "applied before", Revision: newRevision, AppliedRevision: newRevision}
	failed := gitopsv1.SourceStatus{Ready: metav1.ConditionFalse, Reason: meta.BuildFailedReason, Message: "failed before", Revision: newRevision, AppliedRevision: oldRevision}
	again := condition{status: metav1.ConditionUnknown, reason: meta.ProgressingReason, message: "Reconciliation in progress"}

	for _, tc := range []struct {
		name           string
		fetch, apply   condition
		beside         metav1.Condition
		lastApplied    string
		before         gitopsv1.SourceStatus
		ready          metav1.ConditionStatus
		reason, saying string
	}{
		{name: "nothing is said yet", ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "fetching the repository"},
		{name: "the first fetch failed", fetch: condition{status: metav1.ConditionFalse, reason: "GitOperationFailed", message: "no route"}, ready: metav1.ConditionFalse, reason: "GitOperationFailed", saying: "cannot fetch the repository: no route"},
		{name: "the fetch of the generation before failed", fetch: condition{status: metav1.ConditionFalse, reason: "GitOperationFailed", generation: 1}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "fetching the repository"},
		{name: "fetching for the second time", fetch: condition{status: metav1.ConditionUnknown, reason: meta.ProgressingReason}, beside: metav1.Condition{Type: sourcev1.FetchFailedCondition, Status: metav1.ConditionTrue, Reason: "GitOperationFailed", Message: "no route", ObservedGeneration: 2}, ready: metav1.ConditionFalse, reason: "GitOperationFailed", saying: "cannot fetch the repository: no route"},
		{name: "fetching another commit after one that was not signed", fetch: condition{status: metav1.ConditionUnknown, reason: meta.ProgressingReason}, beside: metav1.Condition{Type: sourcev1.SourceVerifiedCondition, Status: metav1.ConditionFalse, Reason: "InvalidCommitSignature", Message: "unsigned", ObservedGeneration: 2}, ready: metav1.ConditionFalse, reason: "InvalidCommitSignature", saying: "cannot fetch the repository: unsigned"},
		{name: "fetching with another spec", fetch: condition{status: metav1.ConditionUnknown, reason: meta.ProgressingReason}, beside: metav1.Condition{Type: sourcev1.FetchFailedCondition, Status: metav1.ConditionTrue, Reason: "GitOperationFailed", ObservedGeneration: 1}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "fetching the repository"},
		{name: "fetched, and not looked at", fetch: fetched, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "waiting for the repository to be applied"},
		{name: "looked at before it was fetched", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ArtifactFailedReason, message: "Source artifact not found, retrying in 10s"}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
		{name: "looked at before it was known", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ArtifactFailedReason, message: `GitRepository.source.toolkit.fluxcd.io "gitops-apps" not found`}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
		{name: "the path is missing", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ArtifactFailedReason, message: "kustomization path not found: stat apps: no such file or directory"}, ready: metav1.ConditionFalse, reason: meta.ArtifactFailedReason, saying: "kustomization path not found: stat apps: no such file or directory"},
		{name: "the first build failed", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.BuildFailedReason, message: "bad yaml"}, ready: metav1.ConditionFalse, reason: meta.BuildFailedReason, saying: "bad yaml"},
		{name: "a dependency is not ready", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.DependencyNotReadyReason, message: "not yet"}, ready: metav1.ConditionUnknown, reason: meta.DependencyNotReadyReason, saying: "not yet"},
		{name: "somebody else wrote at the same moment", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, message: contendedMessage}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
		{name: "somebody else wrote at the same moment as what is applied was applied again", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, message: contendedMessage}, lastApplied: newRevision, before: applied, ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, saying: "applied before"},
		{name: "an apply failed", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, message: "no such kind"}, ready: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, saying: "no such kind"},
		{name: "health checks gave way", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.HealthCheckCanceledReason}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
		{name: "the old revision is applied", fetch: fetched, apply: fetched, lastApplied: oldRevision, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying " + newRevision},
		{name: "applied", fetch: fetched, apply: fetched, lastApplied: newRevision, ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, saying: "applied " + newRevision},
		{name: "applied once more", fetch: fetched, apply: again, lastApplied: newRevision, before: applied, ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, saying: "applied before"},
		{name: "applied, and a dependency is looked at", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.DependencyNotReadyReason}, lastApplied: newRevision, before: applied, ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, saying: "applied before"},
		{name: "failing once more", fetch: fetched, apply: again, lastApplied: oldRevision, before: failed, ready: metav1.ConditionFalse, reason: meta.BuildFailedReason, saying: "failed before"},
		{name: "a failure for another reason", fetch: fetched, apply: condition{status: metav1.ConditionFalse, reason: meta.HealthCheckFailedReason, message: "ill"}, before: failed, ready: metav1.ConditionFalse, reason: meta.HealthCheckFailedReason, saying: "ill"},
		{name: "a new revision after a failure", fetch: fetched, apply: again, before: gitopsv1.SourceStatus{Ready: metav1.ConditionFalse, Reason: meta.BuildFailedReason, Revision: oldRevision}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
		{name: "a Secret that was missing is there", fetch: fetched, apply: again, before: gitopsv1.SourceStatus{Ready: metav1.ConditionFalse, Reason: gitopsv1.ReasonSecretNotFound, Revision: newRevision}, ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, saying: "applying the repository"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kustomization := &kustomizev1.Kustomization{}
			kustomization.Generation = 2
			kustomization.Status.Conditions, kustomization.Status.LastAppliedRevision = tc.apply.list(), tc.lastApplied
			status := sourceStatus(sourceInput{
				source:        gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}},
				fetched:       &fluxstatus.Fetched{Generation: 2, Conditions: append(tc.fetch.list(), tc.beside), Artifact: &meta.Artifact{Revision: newRevision}},
				kustomization: kustomization,
				before:        tc.before,
			})
			if status.Ready != tc.ready || status.Reason != tc.reason || status.Message != tc.saying {
				t.Errorf("the source is %s: %s: %q, want %s: %s: %q", status.Ready, status.Reason, status.Message, tc.ready, tc.reason, tc.saying)
			}
		})
	}
}
