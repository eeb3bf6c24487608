package artifactseal_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// runUntil runs an operator that dies at its n-th write of the seal until it is dead, or until
// done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := harness.DieAtWrite(n, func(request *http.Request) bool { return isSealing(request) && harness.IsLastingWrite(request) })
	return d.RunUntil(t, func() (*harness.Operator, error) {
		return harness.Start(t.Context(), cluster, harness.Config(), d.Wrap)
	}, done)
}

// TestKilledAtEachWrite kills an operator at its first write of the seal, the next one at
// its second, and so on: while the artifacts are sealed for the first tenant, and while
// the seal is taken away after the last. The next operator must come to the same end.
func TestKilledAtEachWrite(t *testing.T) {
	ensureParameters(t, cluster)
	reached := func(reason string, policyThere bool) func(context.Context) bool {
		return func(ctx context.Context) bool {
			condition, _ := verdict(ctx, cluster)
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(thePolicy()), thePolicy())
			if client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			return condition != nil && condition.Reason == reason && (err == nil) == policyThere
		}
	}
	finish := func(status metav1.ConditionStatus, reason string) {
		o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
		if err != nil {
			t.Fatal(err)
		}
		awaitVerdict(t, status, reason)
		if err := o.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	// What tests before this one have left.
	finish(metav1.ConditionFalse, "NoTenantGitOps")
	const limit = 10
	for n := 1; ; n++ {
		if n > limit {
			t.Fatalf("after %d writes the operator has not come to its end", limit)
		}
		tenant := newTenantGitOps(t, fmt.Sprintf("acme-kill%d", n))
		diedUp := runUntil(t, n, reached("SealedByNetworkPolicy", true))
		if diedUp {
			finish(metav1.ConditionTrue, "SealedByNetworkPolicy")
		}
		awaitWhole(t)

		if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, tenant)
		diedDown := runUntil(t, n, reached("NoTenantGitOps", false))
		if diedDown {
			finish(metav1.ConditionFalse, "NoTenantGitOps")
		}
		harness.AwaitGone(t, cluster.Client, thePolicy())
		if !diedUp && !diedDown {
			t.Logf("killed at each of the first %d writes up and down", n-1)
			return
		}
	}
}
