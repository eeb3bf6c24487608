package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// unreachable is a source for tests that need no repository to be fetched.
func unreachable(name string) gitopsv1.Source {
	return gitopsv1.Source{Name: name, Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/" + name}}
}

// TestStampedObjectsAreRepaired deletes and spoils each stamped object, and
// waits for it to be as it was.
func TestStampedObjectsAreRepaired(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-drift")
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))

	const controllers, controller = "cozy-gitops-tenants", "kustomize-controller-tenant-drift"
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	for _, tc := range []struct {
		obj   client.Object
		spoil func(client.Object)
		good  func(client.Object) bool
	}{
		{
			obj:   &rbacv1.Role{ObjectMeta: meta(tenant, "kustomize-controller")},
			spoil: func(o client.Object) { o.(*rbacv1.Role).Rules = o.(*rbacv1.Role).Rules[:1] },
			good:  func(o client.Object) bool { return len(o.(*rbacv1.Role).Rules) > 4 },
		},
		{
			obj:   &rbacv1.Role{ObjectMeta: meta(tenant, "tenant-drift-gitops")},
			spoil: func(o client.Object) { o.SetFinalizers(nil) },
			good:  func(o client.Object) bool { return len(o.GetFinalizers()) == 1 },
		},
		{
			obj: &rbacv1.RoleBinding{ObjectMeta: meta(tenant, "tenant-drift-gitops")},
			spoil: func(o client.Object) {
				o.(*rbacv1.RoleBinding).Subjects = append(o.(*rbacv1.RoleBinding).Subjects, rbacv1.Subject{Kind: "User", APIGroup: rbacv1.GroupName, Name: "mallory"})
			},
			good: func(o client.Object) bool { return len(o.(*rbacv1.RoleBinding).Subjects) == 1 },
		},
		{
			obj:   &corev1.ServiceAccount{ObjectMeta: meta(tenant, "tenant-drift-gitops")},
			spoil: func(o client.Object) { yes := true; o.(*corev1.ServiceAccount).AutomountServiceAccountToken = &yes },
			good: func(o client.Object) bool {
				mount := o.(*corev1.ServiceAccount).AutomountServiceAccountToken
				return mount != nil && !*mount
			},
		},
		{
			obj: &appsv1.Deployment{ObjectMeta: meta(controllers, controller)},
			spoil: func(o client.Object) {
				o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Args = []string{"--watch-all-namespaces=true"}
			},
			good: func(o client.Object) bool {
				return len(o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Args) > 5
			},
		},
		{
			obj: &networkingv1.NetworkPolicy{ObjectMeta: meta(controllers, controller)},
			spoil: func(o client.Object) {
				o.(*networkingv1.NetworkPolicy).Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
			},
			good: func(o client.Object) bool { return len(o.(*networkingv1.NetworkPolicy).Spec.Egress) == 3 },
		},
		{
			obj:   &kustomizev1.Kustomization{ObjectMeta: meta(tenant, "gitops-apps")},
			spoil: func(o client.Object) { o.(*kustomizev1.Kustomization).Spec.ServiceAccountName = "" },
			good: func(o client.Object) bool {
				return o.(*kustomizev1.Kustomization).Spec.ServiceAccountName == "tenant-drift-gitops"
			},
		},
		{
			// A field that is false when it is stamped.
			obj:   &kustomizev1.Kustomization{ObjectMeta: meta(tenant, "gitops-apps")},
			spoil: func(o client.Object) { o.(*kustomizev1.Kustomization).Spec.Suspend = true },
			good:  func(o client.Object) bool { return !o.(*kustomizev1.Kustomization).Spec.Suspend },
		},
		{
			obj:   &sourcev1.GitRepository{ObjectMeta: meta(tenant, "gitops-apps")},
			spoil: func(o client.Object) { o.(*sourcev1.GitRepository).Spec.URL = "https://git.example.org/mallory/apps" },
			good: func(o client.Object) bool {
				return o.(*sourcev1.GitRepository).Spec.URL == "https://git.example.org/acme/apps"
			},
		},
	} {
		name := fmt.Sprintf("%T %s", tc.obj, tc.obj.GetName())
		t.Run(name, func(t *testing.T) {
			isGood := func(ctx context.Context) (bool, string) {
				err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(tc.obj), tc.obj)
				return err == nil && tc.obj.GetDeletionTimestamp() == nil && tc.good(tc.obj), fmt.Sprint(err)
			}
			harness.Await(t, name+" to be stamped", isGood)
			spoiled := tc.obj.DeepCopyObject().(client.Object)
			tc.spoil(spoiled)
			if err := cluster.Client.Patch(t.Context(), spoiled, client.MergeFrom(tc.obj)); err != nil {
				t.Fatal(err)
			}
			harness.Await(t, name+" to be put right", isGood)
		})
		t.Run("deleted "+name, func(t *testing.T) {
			uid := tc.obj.GetUID()
			if err := cluster.Client.Delete(t.Context(), tc.obj); err != nil {
				t.Fatal(err)
			}
			harness.Await(t, name+" to come back", func(ctx context.Context) (bool, string) {
				err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(tc.obj), tc.obj)
				return err == nil && tc.obj.GetUID() != uid && tc.good(tc.obj), fmt.Sprint(err)
			})
		})
	}
}
