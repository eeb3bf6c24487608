//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestSourcesLeadToNothingInternal has source-controller fetch from a name that resolves
// to an internal address: as it comes, contained, and with the address allowed. It is
// not parallel, since the other tests' repositories are internal too.
func TestSourcesLeadToNothingInternal(t *testing.T) {
	const tenant = "tenant-contained"
	if err := stage.Cluster.ServeOutside(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { setEgress(context.Background(), t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressOpen}) })
	repository, commit := stage.Enable(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, func(source *gitopsv1.Source) {
		source.Git.Timeout = &metav1.Duration{Duration: 5 * time.Second}
	})
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	// With the pod's labels, so that what holds for it holds for the probe; so does the
	// Service, so that nothing is to be fetched while the probe is there.
	like := stage.NewProbe(t, "cozy-fluxcd", "like-source-controller", map[string]string{"app": "source-controller"})
	git := onlyPodAddress(t, "git-server")
	internal := map[string]string{
		"the git server":                 suites.Address(git, 8443),
		"the kubelet":                    suites.Address(stage.Cluster.NodeAddress, kubeletPort),
		"the git server, by its Service": "git-server.git-server.svc.cluster.local:8443",
	}
	needed := map[string]string{
		"the API server's endpoint":  suites.Address(stage.Cluster.NodeAddress, 6443),
		"the API server's Service":   "kubernetes.default.svc.cluster.local:443",
		"DNS over TCP":               "kube-dns.kube-system.svc.cluster.local:53",
		"an address of the internet": suites.Address(kind.Outside, kubeletPort),
	}
	suites.AwaitReach(t, like, true, internal)
	suites.AwaitReach(t, like, true, needed)

	setEgress(t.Context(), t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressPublicOnly})
	awaitContained(t, metav1.ConditionTrue)
	suites.AwaitReach(t, like, false, internal)
	suites.AwaitReach(t, like, true, needed)
	removeProbe(t, like)
	commit = harness.Commit(t, repository, map[string]string{"cache.yaml": fixtures.Redis("cache", 1)})
	harness.Await(t, "the fetch to fail", func(context.Context) (bool, string) {
		harness.Request(t, stage.Client, tenant)
		source := harness.Read(t, stage.Client, tenant).Status.Sources[0]
		return source.Ready == metav1.ConditionFalse && strings.Contains(source.Message, "cannot fetch the repository"), source.Message
	})

	setEgress(t.Context(), t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressPublicOnly, AllowedNetworks: []string{git + "/32"}})
	harness.Request(t, stage.Client, tenant)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
}

func removeProbe(t *testing.T, probe *kind.Probe) {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: probe.Namespace, Name: probe.Name}}
	if err := stage.Client.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, stage.Client, pod)
}

func setEgress(ctx context.Context, t *testing.T, egress gitopsv1.SourceEgress) {
	t.Helper()
	parameters := &gitopsv1.GitOpsParameters{}
	if err := stage.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		t.Fatal(err)
	}
	before := parameters.DeepCopy()
	parameters.Spec.SourceEgress = egress
	if err := stage.Client.Patch(ctx, parameters, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func awaitContained(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	harness.Await(t, "SourcesContained="+string(status), func(ctx context.Context) (bool, string) {
		parameters := &gitopsv1.GitOpsParameters{}
		if err := stage.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(parameters.Status.Conditions, "SourcesContained")
		return condition != nil && condition.Status == status, fmt.Sprintf("%+v", condition)
	})
}

// onlyPodAddress is the address of the one pod of a namespace.
func onlyPodAddress(t *testing.T, namespace string) string {
	t.Helper()
	pods := &corev1.PodList{}
	if err := stage.Client.List(t.Context(), pods, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 {
		t.Fatalf("namespace %s has %d pods", namespace, len(pods.Items))
	}
	return pods.Items[0].Status.PodIP
}
