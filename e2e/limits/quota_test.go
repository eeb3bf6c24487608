package limits_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestQuotaBoundsControllers: a ResourceQuota of none keeps a tenant from having a
// controller, whoever asks for it; one of one lets it have its one.
func TestQuotaBoundsControllers(t *testing.T) {
	const counted corev1.ResourceName = "count/tenantgitops.gitops.cozystack.io"
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-quota")
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{counted: resource.MustParse("0")}},
	}
	if err := cluster.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	awaitUsed := func(hard, used string) {
		t.Helper()
		harness.Await(t, fmt.Sprintf("the quota to count %s of %s", used, hard), func(ctx context.Context) (bool, string) {
			if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota); err != nil {
				return false, err.Error()
			}
			isHard, isUsed := quota.Status.Hard[counted], quota.Status.Used[counted]
			return isHard.String() == hard && len(quota.Status.Used) > 0 && isUsed.String() == used, fmt.Sprintf("%+v", quota.Status)
		})
	}
	awaitUsed("0", "0")
	tenant := &gitopsv1.TenantGitOps{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName},
		Spec: gitopsv1.TenantGitOpsSpec{Sources: []gitopsv1.Source{{
			Name: "apps", Suspend: true, Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"},
		}}},
	}
	alice := person(t, namespace)
	if err := alice.Create(t.Context(), tenant.DeepCopy()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: gitops") {
		t.Fatalf("a TenantGitOps beyond the quota: %v", err)
	}
	raised := quota.DeepCopy()
	raised.Spec.Hard[counted] = resource.MustParse("1")
	if err := cluster.Client.Patch(t.Context(), raised, client.MergeFrom(quota)); err != nil {
		t.Fatal(err)
	}
	awaitUsed("1", "0")
	if err := alice.Create(t.Context(), tenant.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	awaitUsed("1", "1")
}
