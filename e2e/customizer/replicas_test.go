package customizer_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	operators "github.com/cozystack/gitops-operator/internal/operator"
)

// replica is one of several operators, and counts its writes, but for those by which replicas
// find their leader.
type replica struct {
	*harness.Operator
	writes atomic.Int64
}

func startReplica(t *testing.T) *replica {
	t.Helper()
	r := &replica{}
	var err error
	r.Operator, err = harness.StartWith(t.Context(), cluster, harness.Config(), harness.Settings{
		Wrap: r.count,
		Adjust: func(options *operators.Options) {
			harness.CustomizerOn(options)
			options.LeaderElection, options.LeaderElectionNamespace = true, options.Webhook.Namespace
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Errorf("a replica ended with %v", err)
		}
	})
	r.AwaitReady(t)
	return r
}

func (r *replica) count(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/leases") {
				r.writes.Add(1)
			}
			return next.RoundTrip(request)
		})
	})
}

func (r *replica) awaitLeads(t *testing.T) {
	t.Helper()
	harness.Await(t, "the replica to lead", func(context.Context) (bool, string) {
		select {
		case <-r.Elected:
			return true, ""
		default:
			return false, "it does not"
		}
	})
}

// TestOneReplicaStamps: the other one writes nothing while there is a leader, and goes on where
// that one has ended.
func TestOneReplicaStamps(t *testing.T) {
	stopOperator(t)
	leader := startReplica(t)
	leader.awaitLeads(t)
	follower := startReplica(t)
	const name = "replicas"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme.replicas")})
	create(t, c)
	account := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	if wrote := follower.writes.Load(); wrote > 0 {
		t.Errorf("the follower has written %d times", wrote)
	}
	if leader.writes.Load() == 0 {
		t.Error("nobody counts writes")
	}

	if err := leader.Stop(); err != nil {
		t.Fatal(err)
	}
	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.Suspend = true })
	follower.awaitLeads(t)
	if now := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSuspended).Status.Account; now != account {
		t.Errorf("its account was %s and is %s", account, now)
	}
	remove(t, c)
	if err := follower.Stop(); err != nil {
		t.Fatal(err)
	}
	startOperator(t)
}
