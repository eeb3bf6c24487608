package tenantgitops

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
)

// TestWhatReleasesMakeOfASource goes through the states of a source with releases that
// have failed, and that are only on their way.
func TestWhatReleasesMakeOfASource(t *testing.T) {
	failed := helmrelease.Health{Unready: 2, Failed: "redis cache failed: no room", Waiting: "etcd shop has not reported yet; redis cache failed: no room"}
	waiting := helmrelease.Health{Unready: 1, Waiting: "etcd shop has not reported yet"}
	unhealthy := gitopsv1.SourceStatus{Ready: metav1.ConditionFalse, Reason: meta.HealthCheckFailedReason, Message: "timeout waiting"}
	says := func(ready metav1.ConditionStatus, reason string) gitopsv1.SourceStatus {
		return gitopsv1.SourceStatus{Ready: ready, Reason: reason, Message: "as it was"}
	}
	for _, tc := range []struct {
		name           string
		status         gitopsv1.SourceStatus
		health         helmrelease.Health
		reason, saying string
	}{
		{"applied, all ready", says(metav1.ConditionTrue, gitopsv1.ReasonSucceeded), helmrelease.Health{}, gitopsv1.ReasonSucceeded, "as it was"},
		{"applied, one on its way", says(metav1.ConditionTrue, gitopsv1.ReasonSucceeded), waiting, gitopsv1.ReasonSucceeded, "as it was"},
		{"applied, one failed", says(metav1.ConditionTrue, gitopsv1.ReasonSucceeded), failed, gitopsv1.ReasonApplicationFailed, failed.Failed},
		{"being applied, one failed", says(metav1.ConditionUnknown, gitopsv1.ReasonProgressing), failed, gitopsv1.ReasonApplicationFailed, failed.Failed},
		{"a dependency is looked at, one failed", says(metav1.ConditionUnknown, meta.DependencyNotReadyReason), failed, gitopsv1.ReasonApplicationFailed, failed.Failed},
		{"the controller does not run", says(metav1.ConditionUnknown, gitopsv1.ReasonControllerNotReady), failed, gitopsv1.ReasonControllerNotReady, "as it was"},
		{"the build fails", says(metav1.ConditionFalse, meta.BuildFailedReason), failed, meta.BuildFailedReason, "as it was"},
		{"deletions are held", says(metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked), failed, gitopsv1.ReasonPruneBlocked, "as it was"},
		{"suspended", says(metav1.ConditionTrue, gitopsv1.ReasonSuspended), failed, gitopsv1.ReasonSuspended, "as it was"},
		{"waited for, one failed", unhealthy, failed, gitopsv1.ReasonApplicationFailed, failed.Failed},
		{"waited for, one late", unhealthy, waiting, meta.HealthCheckFailedReason, "timeout waiting; etcd shop has not reported yet"},
		{"waited for something else", unhealthy, helmrelease.Health{}, meta.HealthCheckFailedReason, "timeout waiting"},
	} {
		got := withHealth(tc.status, tc.health)
		if got.Reason != tc.reason || got.Message != tc.saying || got.Unready != tc.health.Unready {
			t.Errorf("%s: got %s: %s, %d not ready, want %s: %s", tc.name, got.Reason, got.Message, got.Unready, tc.reason, tc.saying)
		}
		if got.Reason == gitopsv1.ReasonApplicationFailed && got.Ready != metav1.ConditionFalse {
			t.Errorf("%s: failed, and ready is %s", tc.name, got.Ready)
		}
	}
}
