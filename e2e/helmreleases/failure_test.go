package helmreleases

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

func TestTextOfAFailureIsInTheConditionsUntilItIsMended(t *testing.T) {
	release := newRelease(t, newNamespace(t, "fails"), "db", "values: {fail: the disk is full}")
	for _, kind := range []string{"Ready", "Released"} {
		failed := awaitCondition(t, release, kind, "False", "InstallFailed")
		if !strings.HasPrefix(failed.Message, "Helm install failed for release fails/db with chart application@1.0.0: ") || !strings.Contains(failed.Message, "the disk is full") {
			t.Errorf("message of %s: %q", kind, failed.Message)
		}
	}
	// Nothing was stored, so it is tried again and again.
	if observed := number(release, "observedGeneration"); observed == release.GetGeneration() {
		t.Errorf("generation %d counts as observed", observed)
	}
	change(t, release, "spec: {values: {fail: null}}")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	change(t, release, "spec: {values: {fail: no room left}}")
	failed := awaitCondition(t, release, "Ready", "False", "UpgradeFailed")
	if !strings.Contains(failed.Message, "no room left") {
		t.Errorf("message %q", failed.Message)
	}
	change(t, release, "spec: {values: {fail: '', more: true}}")
	awaitCondition(t, release, "Ready", "True", "UpgradeSucceeded")
}

func TestReleaseThatNeverGetsReadyStallsWithoutRetries(t *testing.T) {
	release := newRelease(t, newNamespace(t, "stalls"), "db", "{timeout: 1s, values: {notReady: true}}")
	awaitCondition(t, release, "Stalled", "True", "RetriesExceeded")
	ready := awaitCondition(t, release, "Ready", "False", "InstallFailed")
	if !strings.Contains(ready.Message, "Deployment/stalls/db-not-ready not ready") {
		t.Errorf("message %q", ready.Message)
	}
	if stalled := condition(release, "Stalled"); stalled.Message != "Failed to install after 1 attempt(s)" {
		t.Errorf("message %q", stalled.Message)
	}
	awaitObserved(t, release)
	if failures := number(release, "installFailures"); failures != 1 {
		t.Errorf("%d failures, want 1", failures)
	}
	change(t, release, "spec: {values: {notReady: false}}")
	awaitCondition(t, release, "Ready", "True", "UpgradeSucceeded")
	awaitCondition(t, release, "Stalled", "", "")
}

func TestReleaseIsRetriedAfterTheIntervalOfItsStrategy(t *testing.T) {
	namespace := newNamespace(t, "retries")
	release := newRelease(t, namespace, "db", `
timeout: 1s
install: {strategy: {name: RetryOnFailure, retryInterval: 1s}}
upgrade: {strategy: {name: RetryOnFailure, retryInterval: 1s}}
values: {notReady: true}
`)
	awaitCondition(t, release, "Ready", "False", "UpgradeFailed")
	awaitCondition(t, release, "Stalled", "", "")
	reportReady(t, namespace, "db-not-ready")
	awaitCondition(t, release, "Ready", "True", "UpgradeSucceeded")
}

func TestReleaseIsNotReadyWhileItsObjectsAreNot(t *testing.T) {
	namespace := newNamespace(t, "waits")
	release := newRelease(t, namespace, "db", "values: {notReady: true}")
	waiting := awaitCondition(t, release, "Ready", "Unknown", "Progressing")
	if waiting.Message != "Running 'install' action with timeout of 5m0s" {
		t.Errorf("message %q", waiting.Message)
	}
	reportReady(t, namespace, "db-not-ready")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
}

// reportReady does what the controller of Deployments would, once there is one.
func reportReady(t *testing.T, namespace, name string) {
	t.Helper()
	harness.Await(t, "Deployment "+name, func(ctx context.Context) (bool, string) {
		deployment := &appsv1.Deployment{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
			return false, err.Error()
		}
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		if err := cluster.Client.Status().Update(ctx, deployment); err != nil {
			return false, err.Error()
		}
		return true, ""
	})
}
