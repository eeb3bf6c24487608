package packagevalues_test

import (
	"context"
	"net"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestNobodyAsksTheWebhook: somebody has deleted the configuration of the webhooks while the
// operator runs. It says so, and tries again at leisure, whatever happens meanwhile.
func TestNobodyAsksTheWebhook(t *testing.T) {
	operator.AwaitReady(t)
	const name = "not-asked"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	putBack := func(ctx context.Context) {
		if err := harness.InstallWebhooks(ctx, cluster, root); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { putBack(context.Background()) })
	if err := harness.RemoveWebhooks(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	overrideComponents(t, name, "{web: {values: {b: 3}}}")
	awaitState(t, name, metav1.ConditionFalse, "NotStored: web: release cozy-not-asked/web does not take the values: the webhook releases.gitops.cozystack.io was not asked")
	began := time.Now()
	for range 10 {
		request(t, name)
		poke(t, name, "web", 1)
	}
	took := time.Since(began)
	wrote, err := cluster.Writes(began, func(w embedded.Write) bool {
		return w.User == ownAccount && w.Resource == "helmreleases" && w.Namespace == "cozy-"+name
	})
	if err != nil {
		t.Fatal(err)
	}
	// Every 15 s, and the one that may be under way.
	if most := 2 + int(took/(15*time.Second)); len(wrote) > most {
		t.Errorf("the operator wrote the release %d times in %s, want no more than %d", len(wrote), took, most)
	}

	putBack(t.Context())
	awaitComponent(t, name, "web", "{a: 1, b: 3}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
}

// TestDeletedWhileTheWebhookDoesNotAnswer: the operator runs, and the API server does not reach
// it. The override stays until it does, and goes then.
func TestDeletedWhileTheWebhookDoesNotAnswer(t *testing.T) {
	operator.AwaitReady(t)
	const name = "unreachable"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "db": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}, db: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	listener, err := net.Listen("tcp", net.JoinHostPort(harness.Loopback, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { callPort(context.Background(), t, cluster.WebhookPort) })
	callPort(t.Context(), t, listener.Addr().(*net.TCPAddr).Port)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	patch(t, object(t, "PackageValues", name, "{}"), "spec: {components: {db: null, web: {values: {b: 3}}}}")
	awaitState(t, name, metav1.ConditionFalse, "NotStored: web: release cozy-unreachable/web does not take the values: Internal error occurred: failed calling webhook")
	remove(t, object(t, "PackageValues", name, "{}"))
	awaitPackageCondition(t, name, "")
	for _, component := range []string{"web", "db"} {
		wantComponent(t, name, component, "{a: 1, b: 2}")
	}
	// The platform's operator tries again as well, and would hide whether ours does.
	cluster.StopPackageOperator()
	t.Cleanup(func() {
		if err := cluster.StartPackageOperator(context.Background()); err != nil {
			t.Error(err)
		}
	})

	callPort(t.Context(), t, cluster.WebhookPort)
	var plain raw
	plain.Spec.Values = []byte(`{"a":1}`)
	awaitPlain(t, name, "web", plain)
	awaitPlain(t, name, "db", plain)
}
