package tenantgitops_test

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

func TestDeletedObjectsComeBack(t *testing.T) {
	withOperator(t, testConfig())
	tenant := newTenant(t, "tenant-drift")
	write(t, tenant, gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}})
	awaitCondition(t, tenant, metav1.ConditionUnknown, "")
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	for _, obj := range []client.Object{
		&rbacv1.Role{ObjectMeta: meta(tenant, "kustomize-controller")},
		&corev1.ServiceAccount{ObjectMeta: meta(tenant, "tenant-drift-gitops")},
		&appsv1.Deployment{ObjectMeta: meta("cozy-gitops-tenants", "kustomize-controller-tenant-drift")},
		&networkingv1.NetworkPolicy{ObjectMeta: meta("cozy-gitops-tenants", "kustomize-controller-tenant-drift")},
	} {
		await(t, "it to be stamped", func(ctx context.Context) (bool, string) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
			return err == nil, "absent"
		})
	}
}
