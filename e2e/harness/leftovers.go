package harness

import (
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// Leftovers are the objects that were stamped for a tenant and are still there.
func Leftovers(t *testing.T, c client.Client, namespace string) []string {
	t.Helper()
	var left []string
	for _, list := range []client.ObjectList{
		&corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{},
		&appsv1.DeploymentList{}, &networkingv1.NetworkPolicyList{}, &corev1.PodList{}, &kustomizev1.KustomizationList{},
	} {
		if err := c.List(t.Context(), list, client.MatchingLabels{stamp.TenantLabel: namespace}); err != nil {
			t.Fatal(err)
		}
		objects, err := apimeta.ExtractList(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			left = append(left, fmt.Sprintf("%T %s", object, client.ObjectKeyFromObject(object.(client.Object))))
		}
	}
	return left
}
