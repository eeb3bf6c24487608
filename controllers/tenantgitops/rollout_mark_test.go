package tenantgitops

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestRolloutMark says, for each state of a controller that is about to be stamped from
// the configuration "new", with which one it is noted to have been ready.
func TestRolloutMark(t *testing.T) {
	for _, tc := range []struct {
		name             string
		config, mark     string
		ready            bool
		want             string
		holdsOthersSince bool
	}{
		{"a running one is updated", "old", "old", true, "old", true},
		{"a running one that was not looked at since", "old", "", true, "old", true},
		{"one that ran and failed later is updated", "old", "old", false, "new", false},
		{"one that was never ready is updated", "old", "", false, "", false},
		{"one in trouble with a configuration in between is updated", "broken", "old", false, "old", true},
		{"one that starts with the new configuration", "new", "old", false, "old", true},
		{"one that is ready with it", "new", "old", true, "new", false},
		{"one that was ready with it and failed", "new", "new", false, "new", false},
		{"a new tenant's that never starts", "new", "", false, "", false},
		{"one that goes back to what it was ready with", "broken", "new", false, "new", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stored := &appsv1.Deployment{}
			stored.Annotations = map[string]string{stamp.ControllerConfigAnnotation: tc.config}
			if tc.mark != "" {
				stored.Annotations[stamp.RolloutPassedAnnotation] = tc.mark
			}
			if tc.ready {
				stored.Status = appsv1.DeploymentStatus{UpdatedReplicas: 1, ReadyReplicas: 1}
			}
			desired := &appsv1.Deployment{}
			desired.Annotations = map[string]string{stamp.ControllerConfigAnnotation: "new"}
			markRollout(stored, desired, "new")
			if got := desired.Annotations[stamp.RolloutPassedAnnotation]; got != tc.want {
				t.Errorf("it is noted to have been ready with %q, want %q", got, tc.want)
			}
			// As it is stamped, and before it is ready.
			if holds := !hasPassed(desired, "new"); holds != tc.holdsOthersSince {
				t.Errorf("it holds others up: %t, want %t", holds, tc.holdsOthersSince)
			}
		})
	}
}

// TestNewestPodIsOneThatStays has an old pod that ended beside the one that replaces it.
func TestNewestPodIsOneThatStays(t *testing.T) {
	leaving := corev1.Pod{}
	leaving.Name = "z"
	now := metav1.Now()
	leaving.DeletionTimestamp = &now
	if pod := newestPod([]corev1.Pod{leaving}); pod != nil {
		t.Errorf("the newest pod is %s, which is on its way out", pod.Name)
	}
	staying := corev1.Pod{}
	staying.Name = "a"
	if pod := newestPod([]corev1.Pod{leaving, staying}); pod == nil || pod.Name != "a" {
		t.Errorf("the newest pod is %v", pod)
	}
}
