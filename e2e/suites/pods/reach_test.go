//go:build kind

package pods_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

const (
	metricsPort = 8080
	healthPort  = 9440
	kubeletPort = 10250
)

// TestControllerReachesWhatItNeedsAndNothingElse opens connections from a pod that the
// policy of a tenant's controller selects, and from one beside it that no policy holds:
// what only the first cannot reach is what the policy forbids. The artifacts are the
// other way round: they are sealed against pods that are no tenant's controller.
func TestControllerReachesWhatItNeedsAndNothingElse(t *testing.T) {
	t.Parallel()
	const tenant, other = "tenant-reach", "tenant-reachb"
	if err := stage.Cluster.ServeOutside(t.Context()); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}
	_, commit := stage.Enable(t, tenant, files, nil)
	_, otherCommit := stage.Enable(t, other, files, nil)
	if err := stage.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	confined := stage.NewProbe(t, suites.ControllersNamespace, "confined", suites.ControllerLabels(tenant))
	free := stage.NewProbe(t, suites.ControllersNamespace, "free", nil)
	stranger := stage.NewProbe(t, "acme", "stranger", nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	harness.AwaitApplied(t, stage.Client, other, otherCommit)

	node, source := stage.Cluster.NodeAddress, sourceControllerAddress(t)
	otherController := stage.ControllerPod(t, other).Status.PodIP
	needed := map[string]string{
		"the API server's endpoint": suites.Address(node, 6443),
		"the API server's Service":  "kubernetes.default.svc.cluster.local:443",
		"DNS over TCP":              "kube-dns.kube-system.svc.cluster.local:53",
	}
	artifacts := map[string]string{
		"source-controller's artifacts": suites.Address(source, 9090),
		"the artifacts' Service":        "source-controller.cozy-fluxcd.svc.cluster.local:80",
	}
	forbidden := map[string]string{
		"another tenant's controller's metrics": suites.Address(otherController, metricsPort),
		"a pod of another namespace":            stranger.Address,
		"a pod of its own namespace":            free.Address,
		"the kubelet":                           suites.Address(node, kubeletPort),
		"an address of the internet":            suites.Address(kind.Outside, kubeletPort),
		"source-controller's metrics":           suites.Address(source, 8080),
		"source-controller's probes":            suites.Address(source, 9440),
		"the git server":                        "git-server.git-server.svc.cluster.local:8443",
	}
	suites.AwaitReach(t, free, true, needed)
	suites.AwaitReach(t, free, true, forbidden)
	suites.AwaitReach(t, confined, true, needed)
	suites.AwaitReach(t, confined, true, artifacts)
	suites.AwaitReach(t, free, false, artifacts)
	suites.AwaitReach(t, confined, false, forbidden)
	if _, err := confined.Resolve(t.Context(), "kubernetes.default.svc.cluster.local"); err != nil {
		t.Error(err)
	}

	// Into a controller: its metrics from everywhere, and nothing else.
	suites.AwaitReach(t, stranger, true, map[string]string{"a controller's metrics": suites.Address(otherController, metricsPort)})
	closed := map[string]string{"a controller's probes": suites.Address(otherController, healthPort)}
	suites.AwaitReach(t, stranger, false, closed)
	suites.AwaitReach(t, free, false, closed)
	suites.AwaitReach(t, confined, false, closed)
}

// sourceControllerAddress is the address of source-controller's pod.
func sourceControllerAddress(t *testing.T) string {
	t.Helper()
	pods := &corev1.PodList{}
	if err := stage.Client.List(t.Context(), pods, client.InNamespace("cozy-fluxcd"), client.MatchingLabels{"app": "source-controller"}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 {
		t.Fatalf("source-controller has %d pods", len(pods.Items))
	}
	return pods.Items[0].Status.PodIP
}
