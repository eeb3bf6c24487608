package artifactseal_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSteadySealIsNotWrittenTo restarts the operator three times beside a seal that is
// whole, which makes it look at everything and remember nothing, and counts its writes,
// events included.
func TestSteadySealIsNotWrittenTo(t *testing.T) {
	ensureParameters(t, cluster)
	first := harness.WithOperator(t, cluster, harness.Config())
	newTenantGitOps(t, "acme-steady")
	awaitVerdict(t, metav1.ConditionTrue, "SealedByNetworkPolicy")
	awaitWhole(t)
	harness.AwaitCondition(t, cluster.Client, "acme-steady", metav1.ConditionFalse, "NotATenant")
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		began := time.Now()
		compared := &comparisons{}
		o, err := harness.Start(t.Context(), cluster, harness.Config(), compared.wrap)
		if err != nil {
			t.Fatal(err)
		}
		harness.Await(t, "the operator to look at its policy", func(context.Context) (bool, string) {
			return compared.count.Load() > 0, fmt.Sprint(compared.count.Load())
		})
		if err := o.Stop(); err != nil {
			t.Fatal(err)
		}
		writes, err := cluster.Writes(began, func(w embedded.Write) bool {
			return w.User == "system:serviceaccount:cozy-gitops:gitops-operator" && !w.DryRun
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range writes {
			t.Errorf("restart %d: %s", round+1, write)
		}
		t.Logf("restart %d: %d comparisons, %d writes", round+1, compared.count.Load(), len(writes))
	}
}
