package packagevalues_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	operators "github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// replica is one of several operators, with all that it asked the API server for.
type replica struct {
	*harness.Operator
	mu    sync.Mutex
	asked []string
}

func startReplica(t *testing.T) *replica {
	t.Helper()
	r := &replica{}
	started, err := harness.StartWith(t.Context(), cluster, harness.Config(), harness.Settings{
		Wrap: r.listen,
		Adjust: func(options *operators.Options) {
			options.LeaderElection, options.LeaderElectionNamespace = true, options.Webhook.Namespace
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Operator = started
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Errorf("a replica ended with %v", err)
		}
	})
	r.AwaitReady(t)
	return r
}

func (r *replica) listen(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			r.mu.Lock()
			r.asked = append(r.asked, request.Method+" "+request.URL.Path)
			r.mu.Unlock()
			return next.RoundTrip(request)
		})
	})
}

// writes are all but those by which replicas find their leader.
func (r *replica) writes() []string {
	return r.requests(func(request string) bool {
		return !strings.HasPrefix(request, http.MethodGet+" ") && !strings.Contains(request, "/leases")
	})
}

// answers are the reads of a Package, past all caches, that the webhook makes to answer.
func (r *replica) answers(name string) int {
	return len(r.requests(func(request string) bool {
		return request == http.MethodGet+" /apis/cozystack.io/v1alpha1/packages/"+name
	}))
}

func (r *replica) requests(chosen func(string) bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, request := range r.asked {
		if chosen(request) {
			found = append(found, request)
		}
	}
	return found
}

func (r *replica) leads() bool {
	select {
	case <-r.Elected:
		return true
	default:
		return false
	}
}

// TestOneReplicaWritesAndEachAnswers: a release has its values whichever replica is asked, and
// keeps them when the leader ends; the other one goes on.
func TestOneReplicaWritesAndEachAnswers(t *testing.T) {
	operator.AwaitReady(t)
	stopOperator(t)
	t.Cleanup(func() { callPort(context.Background(), t, cluster.WebhookPort) })
	leader := startReplica(t)
	harness.Await(t, "a leader", func(context.Context) (bool, string) { return leader.leads(), "none" })
	follower := startReplica(t)
	const name = "replicas"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 9}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 9}")

	for i, asked := range []*replica{leader, follower} {
		callReplica(t, asked, name)
		before := asked.answers(name)
		overrideComponents(t, name, fmt.Sprintf("{web: {values: {b: %d}}}", i))
		awaitComponent(t, name, "web", fmt.Sprintf("{a: 1, b: %d}", i))
		patch(t, object(t, "Package", name, "{}"), fmt.Sprintf("spec: {components: {web: {values: {a: %d}}}}", i))
		awaitComponent(t, name, "web", fmt.Sprintf("{a: %d, b: %d}", i, i))
		patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 1}}}}")
		awaitComponent(t, name, "web", fmt.Sprintf("{a: 1, b: %d}", i))
		awaitState(t, name, metav1.ConditionTrue, "Succeeded")
		if asked.answers(name) == before {
			t.Errorf("replica %d was not asked", i)
		}
	}
	if wrote := follower.writes(); len(wrote) > 0 || follower.leads() {
		t.Errorf("the follower, which leads: %t, wrote %v", follower.leads(), wrote)
	}
	if wrote := strings.Join(leader.writes(), "\n"); !strings.Contains(wrote, "PATCH /apis/helm.toolkit.fluxcd.io/v2/namespaces/cozy-replicas/helmreleases/web") {
		t.Errorf("the leader did not write the release, but %s", wrote)
	}

	// The follower is asked when the leader ends.
	before := read(t, componentOf(name, "web")).GetResourceVersion()
	if err := leader.Stop(); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the other one to lead", func(context.Context) (bool, string) { return follower.leads(), "it does not" })
	request(t, name)
	if after := read(t, componentOf(name, "web")).GetResourceVersion(); after != before {
		t.Errorf("the release has version %s under another leader, and had %s", after, before)
	}
	wantComponent(t, name, "web", "{a: 1, b: 1}")
	overrideComponents(t, name, "{web: {values: {b: 3}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 3}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	remove(t, object(t, "PackageValues", name, "{}"))
	var plain raw
	plain.Spec.Values = []byte(`{"a":1}`)
	awaitPlain(t, name, "web", plain)

	if err := follower.Stop(); err != nil {
		t.Fatal(err)
	}
	callPort(t.Context(), t, cluster.WebhookPort)
	// One that is stopped before it is ready might not end.
	startOperator(t)
}

// callReplica has the API server ask a replica, as it may through the Service, about the
// release of a Package that is overridden, and waits until it does.
func callReplica(t *testing.T, asked *replica, name string) {
	t.Helper()
	callPort(t.Context(), t, asked.Webhooks.Port)
	before := asked.answers(name)
	harness.Await(t, "the replica to be asked", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Patch(ctx, componentOf(name, "web"), mergePatch(t, "spec: {interval: 7m}"), client.DryRunAll)
		return err == nil && asked.answers(name) > before, fmt.Sprint(err)
	})
}

// callPort has the API server ask at a port of loopback.
func callPort(ctx context.Context, t *testing.T, port int) {
	t.Helper()
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, configuration); err != nil {
		t.Fatal(err)
	}
	for i := range configuration.Webhooks {
		called := &configuration.Webhooks[i].ClientConfig
		address, err := url.Parse(*called.URL)
		if err != nil {
			t.Fatal(err)
		}
		address.Host = net.JoinHostPort(harness.Loopback, strconv.Itoa(port))
		moved := address.String()
		called.URL = &moved
	}
	if err := cluster.Client.Update(ctx, configuration); err != nil {
		t.Fatal(err)
	}
}
