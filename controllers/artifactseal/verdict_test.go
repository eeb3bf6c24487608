package artifactseal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// ensureParameters makes the object that the verdict is written on, if it is not there.
func ensureParameters(t *testing.T, c *embedded.Cluster) {
	t.Helper()
	parameters := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
	if err := c.Client.Create(t.Context(), parameters); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// verdict is the condition as it is now; nil when there is none.
func verdict(ctx context.Context, c *embedded.Cluster) (*metav1.Condition, string) {
	parameters := &gitopsv1.GitOpsParameters{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		return nil, err.Error()
	}
	condition := apimeta.FindStatusCondition(parameters.Status.Conditions, "ArtifactsSealed")
	if condition == nil {
		return nil, "no condition"
	}
	return condition, fmt.Sprintf("%s %s: %s", condition.Status, condition.Reason, condition.Message)
}

// awaitVerdict waits for the condition with a reason, and with parts in its message.
func awaitVerdict(t *testing.T, status metav1.ConditionStatus, reason string, parts ...string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("ArtifactsSealed=%s, %s, %q", status, reason, parts), func(ctx context.Context) (bool, string) {
		condition, text := verdict(ctx, cluster)
		done := condition != nil && condition.Status == status && condition.Reason == reason
		for _, part := range parts {
			done = done && strings.Contains(condition.Message, part)
		}
		return done, text
	})
}

// thePolicy is the one that seals, to be read into.
func thePolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "gitops-artifacts-source-controller"}}
}

// newTenantGitOps makes one in a namespace that is no tenant's, which stamps nothing and
// goes at once: that there is one is all that matters here.
func newTenantGitOps(t *testing.T, namespace string) *gitopsv1.TenantGitOps {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := cluster.Client.Create(t.Context(), ns); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	tenant := &gitopsv1.TenantGitOps{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName},
		Spec:       gitopsv1.TenantGitOpsSpec{Sources: []gitopsv1.Source{{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}}}},
	}
	if err := cluster.Client.Create(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(cluster.Client.Delete(context.Background(), tenant)); err != nil {
			t.Error(err)
		}
	})
	return tenant
}
