//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestSecondReplicaTakesOver deletes the pod of the operator that reconciles.
func TestSecondReplicaTakesOver(t *testing.T) {
	// Those of a configuration before may still be on their way out.
	harness.Await(t, "two pods of the operator", func(ctx context.Context) (bool, string) {
		pods := &corev1.PodList{}
		err := stage.Client.List(ctx, pods, client.InNamespace(suites.OperatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": suites.OperatorName})
		return len(pods.Items) == 2, fmt.Sprintf("%d pods, %v", len(pods.Items), err)
	})
	var first string
	harness.Await(t, "a leader", func(ctx context.Context) (bool, string) {
		first = leader(ctx, t)
		return first != "", first
	})
	if err := stage.Client.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: suites.OperatorNamespace, Name: first}}); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "another leader", func(ctx context.Context) (bool, string) {
		second := leader(ctx, t)
		return second != "" && second != first, second
	})
	_, commit := stage.Enable(t, "tenant-takeover", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	harness.AwaitApplied(t, stage.Client, "tenant-takeover", commit)
}

// leader is the pod of the operator that holds the lease; "" for none.
func leader(ctx context.Context, t *testing.T) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	err := stage.Client.Get(ctx, client.ObjectKey{Namespace: suites.OperatorNamespace, Name: suites.OperatorName}, lease)
	if client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod
}
