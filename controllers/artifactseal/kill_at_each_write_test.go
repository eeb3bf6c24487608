package artifactseal_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// runToTheEndOrDeath runs an operator that dies at its n-th write of the seal until it is
// dead, or until done. It returns whether it died.
func runToTheEndOrDeath(t *testing.T, n int, done func() bool) (died bool) {
	t.Helper()
	d := dieAtWrite(n)
	o, err := harness.Start(t.Context(), cluster, harness.Config(), d.wrap)
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.After(harness.Patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-d.dead:
			// A killed process does not stop in good order; its errors say only that.
			_ = o.Stop()
			return true
		case <-deadline:
			_ = o.Stop()
			t.Fatalf("the operator neither died at write %d nor came to its end", n)
		case <-tick.C:
			if done() {
				if err := o.Stop(); err != nil {
					t.Fatal(err)
				}
				return false
			}
		}
	}
}

// TestKilledAtEachWrite kills an operator at its first write of the seal, the next one at
// its second, and so on: while the artifacts are sealed for the first tenant, and while
// the seal is taken away after the last. The next operator must come to the same end.
func TestKilledAtEachWrite(t *testing.T) {
	ensureParameters(t, cluster)
	reached := func(reason string, policyThere bool) func() bool {
		return func() bool {
			condition, _ := verdict(t.Context(), cluster)
			err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(thePolicy()), thePolicy())
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
		diedUp := runToTheEndOrDeath(t, n, reached("SealedByNetworkPolicy", true))
		if diedUp {
			finish(metav1.ConditionTrue, "SealedByNetworkPolicy")
		}
		awaitWhole(t)

		if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, tenant)
		diedDown := runToTheEndOrDeath(t, n, reached("NoTenantGitOps", false))
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
