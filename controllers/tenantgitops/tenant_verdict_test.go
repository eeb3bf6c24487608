package tenantgitops

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

func said(name string, ready metav1.ConditionStatus, reason, message string) gitopsv1.SourceStatus {
	return gitopsv1.SourceStatus{Name: name, Ready: ready, Reason: reason, Message: message}
}

func TestTenantVerdictSumsTheSourcesUp(t *testing.T) {
	runs := &gitopsv1.ControllerStatus{Ready: true}
	stopped := &gitopsv1.ControllerStatus{LastTermination: "OOMKilled, exit code 137"}
	good := said("a", metav1.ConditionTrue, gitopsv1.ReasonSucceeded, "applied main@sha1:1")
	pending := said("b", metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "fetching the repository")
	failed := said("c", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound, "the Secret \"c.gitops\" does not exist")
	apply := said("e", metav1.ConditionFalse, "BuildFailed", "no kustomization.yaml")
	paused := said("d", metav1.ConditionTrue, gitopsv1.ReasonSuspended, "reconciliation is suspended")

	for _, tc := range []struct {
		name       string
		suspended  bool
		sources    []gitopsv1.SourceStatus
		controller *gitopsv1.ControllerStatus
		ready      metav1.ConditionStatus
		reason     string
		message    string
	}{
		{"all applied", false, []gitopsv1.SourceStatus{good}, runs, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, "1 of 1 sources applied"},
		{"one suspended", false, []gitopsv1.SourceStatus{good, paused}, runs, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, "1 suspended"},
		{"on the way", false, []gitopsv1.SourceStatus{good, pending}, runs, metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "source b: fetching"},
		{"a failure outweighs what is on its way", false, []gitopsv1.SourceStatus{pending, good, failed}, runs, metav1.ConditionFalse, gitopsv1.ReasonSourceFailed, "source c: the Secret"},
		{"two failures", false, []gitopsv1.SourceStatus{failed, failed}, runs, metav1.ConditionFalse, gitopsv1.ReasonSourceFailed, "(and 1 more)"},
		{"the only source's failure is the reason", false, []gitopsv1.SourceStatus{failed}, runs, metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound, "c.gitops"},
		{"a controller that died", false, []gitopsv1.SourceStatus{good}, stopped, metav1.ConditionFalse, gitopsv1.ReasonControllerNotReady, "OOMKilled"},
		{"a controller that died after a failure", false, []gitopsv1.SourceStatus{apply}, stopped, metav1.ConditionFalse, gitopsv1.ReasonControllerNotReady, "OOMKilled, exit code 137; before that, source e: no kustomization.yaml"},
		{"a controller that died beside what does not need it", false, []gitopsv1.SourceStatus{apply, failed}, stopped, metav1.ConditionFalse, gitopsv1.ReasonSourceFailed, "source e: no"},
		{"a failure and a controller that starts", false, []gitopsv1.SourceStatus{apply}, &gitopsv1.ControllerStatus{}, metav1.ConditionFalse, "BuildFailed", "no kustomization"},
		{"a controller that starts", false, []gitopsv1.SourceStatus{good}, &gitopsv1.ControllerStatus{}, metav1.ConditionUnknown, gitopsv1.ReasonControllerNotReady, "does not run yet"},
		{"all suspended", true, []gitopsv1.SourceStatus{failed}, stopped, metav1.ConditionTrue, gitopsv1.ReasonSuspended, "stays as it is"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := tenantVerdict(tc.suspended, tc.sources, tc.controller, false)
			if got.ready != tc.ready || got.reason != tc.reason || !strings.Contains(got.message, tc.message) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRevisionsInOneLine(t *testing.T) {
	const long = "main@sha1:4c2f1d9a77aa0123456789abcdef0123456789ab"
	at := func(name, revision string) gitopsv1.SourceStatus {
		return gitopsv1.SourceStatus{Name: name, AppliedRevision: revision}
	}
	for _, tc := range []struct {
		name    string
		sources []gitopsv1.SourceStatus
		want    string
	}{
		{"nothing applied", []gitopsv1.SourceStatus{at("a", "")}, ""},
		{"one", []gitopsv1.SourceStatus{at("a", long)}, "main@sha1:4c2f1d9a77aa"},
		{"two at one commit", []gitopsv1.SourceStatus{at("a", long), at("b", long)}, "main@sha1:4c2f1d9a77aa"},
		{"two apart", []gitopsv1.SourceStatus{at("a", long), at("b", "v1@sha256:00")}, "a=main@sha1:4c2f1d9a77aa b=v1@sha256:00"},
	} {
		if got := summarizeRevisions(tc.sources); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
