//go:build kind

package kind

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// testCluster creates a cluster for one test, and deletes it unless it is to be kept.
func testCluster(t *testing.T, flavour Flavour) (context.Context, *Cluster, client.Client) {
	t.Helper()
	// A test that is interrupted still deletes its cluster.
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(stop)
	cluster, err := Create(ctx, Options{Name: "e2e-" + string(flavour), Flavour: flavour, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("KEEP_CLUSTER") == "" {
		t.Cleanup(func() {
			if err := cluster.Delete(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	writer, err := cluster.Client()
	if err != nil {
		t.Fatal(err)
	}
	return ctx, cluster, writer
}

func namespace(ctx context.Context, t *testing.T, writer client.Client, name string) {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := writer.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := writer.Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
	})
}

func probe(ctx context.Context, t *testing.T, cluster *Cluster, namespace, name string, labels map[string]string) *Probe {
	t.Helper()
	started, err := cluster.StartProbe(ctx, namespace, name, labels)
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// await waits until a connection is what it should be: a policy takes a moment to hold.
func await(ctx context.Context, t *testing.T, from *Probe, address string, allowed bool) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = from.Dial(ctx, address)
		return (last == nil) == allowed, nil
	})
	if err != nil {
		t.Fatalf("connection from %s/%s to %s: want allowed %t, got error %v", from.Namespace, from.Name, address, allowed, last)
	}
}

const delivery = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: acme, namespace: cozy-fluxcd}
spec: {interval: 1m, url: URL, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: acme, namespace: cozy-fluxcd}
spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: acme}}
`

// deliver lets the platform's Flux apply what a repository holds.
func deliver(ctx context.Context, t *testing.T, cluster *Cluster, reader client.Client) {
	t.Helper()
	server, err := cluster.StartGitServer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := server.NewRepository(ctx, "acme")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(ctx, map[string]string{
		"delivered.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: delivered, namespace: acme}\n",
	}); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Apply(ctx, strings.ReplaceAll(delivery, "URL", repository.HTTPURL())); err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		err := reader.Get(ctx, client.ObjectKey{Namespace: "acme", Name: "delivered"}, &corev1.ConfigMap{})
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		t.Errorf("await what the repository holds: %v", err)
	}
}

const policies = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: ingress, namespace: acme}
spec:
  podSelector: {matchLabels: {app: server}}
  policyTypes: [Ingress]
  ingress:
    - from:
        - namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: acme}}
          podSelector: {matchLabels: {app: friend}}
      ports: [{port: 8080}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: egress, namespace: acme}
spec:
  podSelector: {matchLabels: {app: confined}}
  policyTypes: [Egress]
  egress:
    - to: [{ipBlock: {cidr: NODE/32}}]
      ports: [{port: 6443}]
    - to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}]
      ports: [{port: 53, protocol: UDP}]
`

func TestFluxInPodsWithEnforcedNetworkPolicies(t *testing.T) {
	ctx, cluster, writer := testCluster(t, FluxInPods)
	namespace(ctx, t, writer, "acme")
	namespace(ctx, t, writer, "other")
	server := probe(ctx, t, cluster, "acme", "server", map[string]string{"app": "server"})
	friend := probe(ctx, t, cluster, "acme", "friend", map[string]string{"app": "friend"})
	confined := probe(ctx, t, cluster, "acme", "confined", map[string]string{"app": "confined"})
	stranger := probe(ctx, t, cluster, "other", "stranger", map[string]string{"app": "friend"})
	const artifacts, apiServer = "source-controller.cozy-fluxcd.svc.cluster.local:80", "kubernetes.default.svc.cluster.local:443"

	t.Run("without a policy all are let through", func(t *testing.T) {
		for _, from := range []*Probe{friend, confined, stranger} {
			for _, address := range []string{server.Address, artifacts, apiServer} {
				await(ctx, t, from, address, true)
			}
		}
	})

	if err := cluster.Apply(ctx, strings.ReplaceAll(policies, "NODE", cluster.NodeAddress)); err != nil {
		t.Fatal(err)
	}
	t.Run("a pod that nobody names is cut off", func(t *testing.T) {
		await(ctx, t, stranger, server.Address, false)
		await(ctx, t, confined, server.Address, false)
		await(ctx, t, friend, server.Address, true)
	})
	t.Run("a confined pod reaches what it is allowed and nothing else", func(t *testing.T) {
		await(ctx, t, confined, friend.Address, false)
		await(ctx, t, confined, artifacts, false)
		await(ctx, t, confined, apiServer, true)
		if _, err := confined.Resolve(ctx, "kubernetes.default.svc.cluster.local"); err != nil {
			t.Error(err)
		}
		await(ctx, t, confined, cluster.NodeAddress+":10250", false)
	})
	t.Run("Flux delivers a repository", func(t *testing.T) { deliver(ctx, t, cluster, writer) })
	t.Run("the machine reaches a NodePort", func(t *testing.T) {
		service := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "acme", Name: "friend"},
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeNodePort, Selector: map[string]string{"app": "friend"},
				Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(probePort)}},
			},
		}
		if err := writer.Create(ctx, service); err != nil {
			t.Fatal(err)
		}
		url := "http://" + net.JoinHostPort(cluster.NodeAddress, fmt.Sprint(service.Spec.Ports[0].NodePort)) + "/"
		err := wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(context.Context) (bool, error) {
			response, err := http.Get(url)
			if err != nil {
				return false, nil
			}
			return response.StatusCode == http.StatusOK, response.Body.Close()
		})
		if err != nil {
			t.Errorf("get %s: %v", url, err)
		}
	})
	t.Run("others go on as before", func(t *testing.T) {
		await(ctx, t, stranger, friend.Address, true)
		await(ctx, t, friend, artifacts, true)
	})
}

func TestFluxOnTheHostNetwork(t *testing.T) {
	ctx, cluster, writer := testCluster(t, FluxOnHostNetwork)
	namespace(ctx, t, writer, "acme")
	pods := &corev1.PodList{}
	if err := writer.List(ctx, pods, client.InNamespace(FluxNamespace)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || !pods.Items[0].Spec.HostNetwork || len(pods.Items[0].Spec.Containers) != 2 {
		t.Errorf("pods in %s: %d, want one with two containers on the host network", FluxNamespace, len(pods.Items))
	}
	visitor := probe(ctx, t, cluster, "acme", "visitor", nil)
	await(ctx, t, visitor, "flux.cozy-fluxcd.svc:80", true)
	await(ctx, t, visitor, cluster.NodeAddress+":9790", true)
	t.Run("Flux delivers a repository", func(t *testing.T) { deliver(ctx, t, cluster, writer) })
}
