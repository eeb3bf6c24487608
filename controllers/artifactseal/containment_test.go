package artifactseal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

func awaitContained(t *testing.T, status metav1.ConditionStatus, reason string, parts ...string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("SourcesContained=%s, %s, %q", status, reason, parts), func(ctx context.Context) (bool, string) {
		parameters := &gitopsv1.GitOpsParameters{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(parameters.Status.Conditions, "SourcesContained")
		if condition == nil {
			return false, "no condition"
		}
		done := condition.Status == status && condition.Reason == reason
		for _, part := range parts {
			done = done && strings.Contains(condition.Message, part)
		}
		return done, fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
	})
}

// setEgress changes what the admin asks for.
func setEgress(t *testing.T, egress gitopsv1.SourceEgress) error {
	t.Helper()
	parameters := &gitopsv1.GitOpsParameters{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		t.Fatal(err)
	}
	before := parameters.DeepCopy()
	parameters.Spec.SourceEgress = egress
	return cluster.Client.Patch(t.Context(), parameters, client.MergeFrom(before))
}

// TestSourceControllerIsContainedWhereAnAdminAsksForIt switches the containment on,
// changes it, takes it away by hand, sees another policy open it, and switches it off.
func TestSourceControllerIsContainedWhereAnAdminAsksForIt(t *testing.T) {
	ensureParameters(t, cluster)
	harness.WithOperator(t, cluster, harness.Config())
	newTenantGitOps(t, "acme-contained")
	awaitContained(t, metav1.ConditionFalse, "EgressOpen", "spec.sourceEgress.mode")

	if err := setEgress(t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressPublicOnly, AllowedNetworks: []string{"10.20.0.1"}}); err == nil || !strings.Contains(err.Error(), "write an address block, such as 10.20.0.0/24") {
		t.Errorf("an address for a network: got %v", err)
	}
	if err := setEgress(t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressPublicOnly, AllowedNetworks: []string{"10.20.0.0/24"}}); err != nil {
		t.Fatal(err)
	}
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "gitops-sources-source-controller"}}
	awaitContained(t, metav1.ConditionTrue, "ContainedByNetworkPolicy", "10.20.0.0/24")
	awaitEvent(t, "Normal", "ContainedByNetworkPolicy")
	allows := func(network string) bool {
		harness.AwaitExists(t, cluster.Client, policy)
		return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
			return slices.ContainsFunc(rule.To, func(peer networkingv1.NetworkPolicyPeer) bool {
				return peer.IPBlock != nil && peer.IPBlock.CIDR == network
			})
		})
	}
	if !allows("10.20.0.0/24") {
		t.Errorf("the network is not in the policy: %+v", policy.Spec.Egress)
	}

	// Repaired, and told where another opens it.
	if err := cluster.Client.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	harness.AwaitExists(t, cluster.Client, policy)
	other := &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "allow-egress"},
		Spec: networkingv1.NetworkPolicySpec{
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress:      []networkingv1.NetworkPolicyEgressRule{{}},
		},
	}
	if err := cluster.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	awaitContained(t, metav1.ConditionFalse, "OpenedByAnotherPolicy", "allow-egress")
	awaitEvent(t, "Warning", "OpenedByAnotherPolicy")
	if err := cluster.Client.Delete(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	awaitContained(t, metav1.ConditionTrue, "ContainedByNetworkPolicy")

	if err := setEgress(t, gitopsv1.SourceEgress{Mode: gitopsv1.SourceEgressOpen}); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, policy)
	awaitContained(t, metav1.ConditionFalse, "EgressOpen")
	// The seal of the artifacts stays.
	harness.AwaitExists(t, cluster.Client, thePolicy())
}
