package artifactseal_test

import (
	"context"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// awaitWhole waits until the policy is what it is to be.
func awaitWhole(t *testing.T) *networkingv1.NetworkPolicy {
	t.Helper()
	policy := thePolicy()
	harness.Await(t, "the policy to be whole", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(policy), policy); err != nil {
			return false, err.Error()
		}
		spec := policy.Spec
		return len(spec.Ingress) == 2 && len(spec.Ingress[0].From) == 2 && spec.PodSelector.MatchLabels["app"] == "source-controller" &&
			policy.Labels["gitops.cozystack.io/seal"] == "artifacts", spec.String()
	})
	return policy
}

// TestSealIsRepaired spoils the policy in each way that would open the artifacts, and
// deletes it.
func TestSealIsRepaired(t *testing.T) {
	ensureParameters(t, cluster)
	harness.WithOperator(t, cluster, harness.Config())
	// A seal that another test has left goes first.
	awaitVerdict(t, metav1.ConditionFalse, "NoTenantGitOps")
	harness.AwaitGone(t, cluster.Client, thePolicy())
	newTenantGitOps(t, "acme-drift")
	for name, spoil := range map[string]func(*networkingv1.NetworkPolicy){
		"a rule for everybody": func(p *networkingv1.NetworkPolicy) {
			p.Spec.Ingress = append(p.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{})
		},
		"a peer more": func(p *networkingv1.NetworkPolicy) {
			p.Spec.Ingress[0].From = append(p.Spec.Ingress[0].From, networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{}})
		},
		"other pods": func(p *networkingv1.NetworkPolicy) { p.Spec.PodSelector.MatchLabels["app"] = "web" },
		"no label":   func(p *networkingv1.NetworkPolicy) { p.Labels = nil },
	} {
		t.Run(name, func(t *testing.T) {
			policy := awaitWhole(t)
			spoiled := policy.DeepCopy()
			spoil(spoiled)
			if err := cluster.Client.Patch(t.Context(), spoiled, client.MergeFrom(policy)); err != nil {
				t.Fatal(err)
			}
			if spoiled.ResourceVersion == policy.ResourceVersion {
				t.Fatal("nothing was spoiled")
			}
			awaitWhole(t)
		})
	}
	t.Run("deleted", func(t *testing.T) {
		policy := awaitWhole(t)
		if err := cluster.Client.Delete(t.Context(), policy); err != nil {
			t.Fatal(err)
		}
		if awaitWhole(t).UID == policy.UID {
			t.Error("the policy was not deleted")
		}
	})
}

// TestPolicyOfSomebodyElse finds one of the seal's name, and one that opens the port.
func TestPolicyOfSomebodyElse(t *testing.T) {
	ensureParameters(t, cluster)
	harness.WithOperator(t, cluster, harness.Config())
	awaitVerdict(t, metav1.ConditionFalse, "NoTenantGitOps")
	harness.AwaitGone(t, cluster.Client, thePolicy())
	foreign := thePolicy()
	foreign.Spec.PodSelector.MatchLabels = map[string]string{"app": "web"}
	if err := cluster.Client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	newTenantGitOps(t, "acme-foreign")
	awaitVerdict(t, metav1.ConditionFalse, "NameTaken", "gitops-artifacts-source-controller", "delete it or give it another name")
	awaitEvent(t, "Warning", "NameTaken")
	stored := thePolicy()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil || stored.Generation != 1 {
		t.Errorf("somebody else's policy was changed: %v, generation %d", err, stored.Generation)
	}
	if err := cluster.Client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	awaitVerdict(t, metav1.ConditionTrue, "SealedByNetworkPolicy")
	awaitWhole(t)

	open := &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "acme-open"},
		Spec:       networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{}}},
	}
	if err := cluster.Client.Create(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	awaitVerdict(t, metav1.ConditionFalse, "OpenedByAnotherPolicy", "NetworkPolicy cozy-fluxcd/acme-open lets others to port 9090")
	if err := cluster.Client.Delete(t.Context(), open); err != nil {
		t.Fatal(err)
	}
	awaitVerdict(t, metav1.ConditionTrue, "SealedByNetworkPolicy")
	awaitWhole(t)
}
