package tenantgitops_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	operatorUser = "system:serviceaccount:cozy-gitops:gitops-operator"
	// certificatesUser renews the certificate of the operator's webhooks.
	certificatesUser = "system:serviceaccount:cozy-gitops:" + harness.CertificatesAccount
)

// TestSteadyTenantsAreNotWrittenTo enables twenty tenants, waits until all is
// applied, lets the operator look at each of them three more times, and counts
// its writes: there must be none, events included, and none by what keeps the
// certificate of its webhooks, which it serves meanwhile.
func TestSteadyTenantsAreNotWrittenTo(t *testing.T) {
	const tenants, resyncs = 20, 3
	enabled := time.Now()
	byOperator := func(w embedded.Write) bool {
		return (w.User == operatorUser || w.User == certificatesUser) && !w.DryRun
	}
	first := harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	commits := map[string]string{}
	for i := range tenants {
		namespace := harness.NewTenant(t, cluster.Client, fmt.Sprintf("tenant-steady%d", i))
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
		harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
		commits[namespace] = commit
	}
	for namespace, commit := range commits {
		harness.AwaitApplied(t, cluster.Client, namespace, commit)
		harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "Succeeded")
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	// That it is counted at all: each tenant has more objects than this.
	if writes, err := cluster.Writes(enabled, byOperator); err != nil || len(writes) < 10*tenants {
		t.Fatalf("%d writes were counted while %d tenants were enabled, %v", len(writes), tenants, err)
	}
	// A restart is the hardest of resyncs: it looks at everything and remembers
	// nothing. The access reviews by which it would wait for a binding tell when it
	// has found something to do.
	var reconciled passCounter
	for round := range resyncs {
		began := time.Now()
		reconciled.reset()
		o, err := harness.Start(t.Context(), cluster, harness.Config(), reconciled.wrap)
		if err != nil {
			t.Fatal(err)
		}
		// With its webhooks in use, and not merely about to be.
		o.AwaitReady(t)
		reconciled.await(t, tenants)
		if err := o.Stop(); err != nil {
			t.Fatal(err)
		}
		writes, err := cluster.Writes(began, byOperator)
		if err != nil {
			t.Fatal(err)
		}
		for _, write := range writes {
			t.Errorf("resync %d: %s", round+1, write)
		}
		t.Logf("resync %d: %d writes over %d tenants", round+1, len(writes), tenants)
	}
}
