package hostnetwork_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

func awaitVerdict(t *testing.T, status metav1.ConditionStatus, reason, part string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("ArtifactsSealed=%s, %s, %q", status, reason, part), func(ctx context.Context) (bool, string) {
		parameters := &gitopsv1.GitOpsParameters{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(parameters.Status.Conditions, "ArtifactsSealed")
		if condition == nil {
			return false, "no condition"
		}
		return condition.Status == status && condition.Reason == reason && strings.Contains(condition.Message, part),
			fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
	})
}

// setHostNetwork moves Flux's pods to the host network, or off it.
func setHostNetwork(t *testing.T, on bool) {
	t.Helper()
	flux := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "flux"}}
	harness.AwaitExists(t, cluster.Client, flux)
	moved := flux.DeepCopy()
	moved.Spec.Template.Spec.HostNetwork = on
	if err := cluster.Client.Patch(t.Context(), moved, client.MergeFrom(flux)); err != nil {
		t.Fatal(err)
	}
}

// TestNodesPortIsSaidToBeOpen looks that no policy pretends to seal what none can, and
// that the artifacts are sealed when Flux moves off the host network, for as long as that.
func TestNodesPortIsSaidToBeOpen(t *testing.T) {
	parameters := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
	if err := cluster.Client.Create(t.Context(), parameters); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-onhost")
	harness.Write(t, cluster.Client, tenant, gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}})
	const open = "port 9790 of every node that runs source-controller is open to every pod"
	awaitVerdict(t, metav1.ConditionFalse, "FluxOnHostNetwork", open)
	var policies networkingv1.NetworkPolicyList
	if err := cluster.Client.List(t.Context(), &policies, client.InNamespace("cozy-fluxcd")); err != nil || len(policies.Items) != 0 {
		t.Errorf("policies that seal nothing: %v, %v", policies.Items, err)
	}

	setHostNetwork(t, false)
	awaitVerdict(t, metav1.ConditionTrue, "SealedByNetworkPolicy", "port 9790 of the pods of Deployment cozy-fluxcd/flux")
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "gitops-artifacts-flux"}}
	harness.AwaitExists(t, cluster.Client, policy)

	setHostNetwork(t, true)
	awaitVerdict(t, metav1.ConditionFalse, "FluxOnHostNetwork", open)
	harness.AwaitGone(t, cluster.Client, policy)
}
