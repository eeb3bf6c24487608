package harness

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AwaitAnotherSecond waits until the API would give a condition that is written anew another
// time of transition than these have: such times are in whole seconds.
func AwaitAnotherSecond(t *testing.T, conditions []metav1.Condition) {
	t.Helper()
	for _, condition := range conditions {
		Await(t, "another second", func(context.Context) (bool, string) {
			return time.Since(condition.LastTransitionTime.Time) > time.Second, ""
		})
	}
}
