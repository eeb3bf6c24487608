package webhook_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// TestEveryReplicaServes runs two replicas with leader election: both answer, under
// one certificate, and when the leader ends the other goes on.
func TestEveryReplicaServes(t *testing.T) {
	elect := harness.Settings{Adjust: func(options *operator.Options) {
		options.LeaderElection = true
		options.LeaderElectionNamespace = options.Webhook.Namespace
	}}
	leader := startOperator(t, elect)
	leader.AwaitReady(t)
	harness.Await(t, "a leader", func(context.Context) (bool, string) { return isLeader(leader), "none" })
	// It finds the port taken, and has another one.
	follower := startOperator(t, elect)
	follower.AwaitReady(t)
	if leader.Webhooks.Port == follower.Webhooks.Port {
		t.Fatalf("both listen on port %d", leader.Webhooks.Port)
	}
	tenant := harness.NewTenant(t, cluster.Client, "tenant-replicas")
	user := tenantUser(t, tenant)
	switchOn(t, tenant)

	var shown []string
	for name, replica := range map[string]*harness.Operator{"leader": leader, "follower": follower} {
		// The follower's cache learns of the TenantGitOps by itself.
		certificate, err := handshake(t.Context(), t, replica, tenant)
		if err != nil {
			t.Fatalf("the %s: %v", name, err)
		}
		shown = append(shown, certificate.SerialNumber.String())
	}
	if shown[0] != shown[1] {
		t.Errorf("the replicas serve with the certificates %v", shown)
	}
	if isLeader(follower) || !isLeader(leader) {
		t.Error("another one leads now: it is not known that who does not lead answers")
	}

	// The API server asks the follower, as it does through the Service.
	callPort(t, follower.Webhooks.Port)
	t.Cleanup(func() { callPort(t, cluster.WebhookPort) })
	stop(t, leader)
	harness.Await(t, "a write that the other replica answers for", func(ctx context.Context) (bool, string) {
		err := user.Create(ctx, kustomization(tenant, "answered"))
		return err == nil, fmt.Sprint(err)
	})
}

func isLeader(o *harness.Operator) bool {
	select {
	case <-o.Elected:
		return true
	default:
		return false
	}
}

// callPort has the API server call for Kustomizations at a port of loopback.
func callPort(t *testing.T, port int) {
	t.Helper()
	configuration, err := liveConfiguration(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	address := harness.WebhookURL(port)
	configuration.Webhooks[0].ClientConfig.URL = &address
	if err := cluster.Client.Update(context.Background(), configuration); err != nil {
		t.Fatal(err)
	}
}
