package artifactseal_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// besideFlux are the NetworkPolicies in Flux's namespace.
func besideFlux(t *testing.T) []networkingv1.NetworkPolicy {
	t.Helper()
	var policies networkingv1.NetworkPolicyList
	if err := cluster.Client.List(t.Context(), &policies, client.InNamespace("cozy-fluxcd")); err != nil {
		t.Fatal(err)
	}
	return policies.Items
}

// awaitEvent waits for an Event on GitOpsParameters.
func awaitEvent(t *testing.T, kind, reason string) {
	t.Helper()
	harness.Await(t, "the Event "+reason, func(ctx context.Context) (bool, string) {
		var list eventsv1.EventList
		if err := cluster.Client.List(ctx, &list); err != nil {
			return false, err.Error()
		}
		var seen []string
		for _, event := range list.Items {
			if event.Regarding.Kind == "GitOpsParameters" && event.Regarding.Name == gitopsv1.GitOpsParametersName {
				seen = append(seen, event.Type+" "+event.Reason)
			}
		}
		return slices.Contains(seen, kind+" "+reason), strings.Join(seen, ", ")
	})
}

// TestSealComesWithTheFirstTenantAndGoesWithTheLast looks at Flux's namespace before
// anybody uses GitOps, with two tenants, with one, and with none again.
func TestSealComesWithTheFirstTenantAndGoesWithTheLast(t *testing.T) {
	ensureParameters(t, cluster)
	harness.WithOperator(t, cluster, harness.Config())
	awaitVerdict(t, metav1.ConditionFalse, "NoTenantGitOps", "nothing is sealed")
	if policies := besideFlux(t); len(policies) != 0 {
		t.Fatalf("before the first tenant there are policies: %v", policies)
	}

	for _, namespace := range []string{"tenant-first", "tenant-last"} {
		harness.NewTenant(t, cluster.Client, namespace)
		harness.Write(t, cluster.Client, namespace, gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}})
	}
	policy := thePolicy()
	harness.AwaitExists(t, cluster.Client, policy)
	awaitVerdict(t, metav1.ConditionTrue, "SealedByNetworkPolicy", "port 9090 of the pods of Deployment cozy-fluxcd/source-controller", "by NetworkPolicy gitops-artifacts-source-controller")
	awaitEvent(t, "Normal", "SealedByNetworkPolicy")
	checkPeers(t, policy, "tenant-first")

	for _, namespace := range []string{"tenant-first", "tenant-last"} {
		if policies := besideFlux(t); len(policies) != 1 {
			t.Errorf("with %s there are %d policies, want one", namespace, len(policies))
		}
		tenant := harness.Read(t, cluster.Client, namespace)
		if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, tenant)
	}
	harness.AwaitGone(t, cluster.Client, policy)
	awaitVerdict(t, metav1.ConditionFalse, "NoTenantGitOps")
	awaitEvent(t, "Normal", "NoTenantGitOps")
}

// checkPeers holds the policy against the pods that it is about: those of the Deployment
// of source-controller, and those that a tenant's controller really has.
func checkPeers(t *testing.T, policy *networkingv1.NetworkPolicy, tenant string) {
	t.Helper()
	source := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "source-controller"}}
	controller := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-gitops-tenants", Name: "kustomize-controller-" + tenant}}
	harness.AwaitExists(t, cluster.Client, source)
	harness.AwaitExists(t, cluster.Client, controller)
	matches := func(selector *metav1.LabelSelector, deployment *appsv1.Deployment) bool {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(labels.Set(deployment.Spec.Template.Labels))
	}
	if !matches(&policy.Spec.PodSelector, source) {
		t.Errorf("the policy does not hold for source-controller: %v", policy.Spec.PodSelector)
	}
	artifacts := policy.Spec.Ingress[0]
	if len(artifacts.Ports) != 1 || artifacts.Ports[0].Port.IntVal != 9090 || len(artifacts.From) != 2 {
		t.Fatalf("the first rule is %+v", artifacts)
	}
	if from := artifacts.From[0]; from.NamespaceSelector != nil || from.PodSelector == nil || len(from.PodSelector.MatchLabels) != 0 {
		t.Errorf("the first peer is %+v, want all pods of the namespace", from)
	}
	from := artifacts.From[1]
	if from.NamespaceSelector == nil || from.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] != "cozy-gitops-tenants" || !matches(from.PodSelector, controller) {
		t.Errorf("the second peer is %+v, and the controller's pods carry %v", from, controller.Spec.Template.Labels)
	}
}
