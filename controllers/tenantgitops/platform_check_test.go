package tenantgitops_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	corev1 "k8s.io/api/core/v1"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// expectNothingStamped waits until a TenantGitOps is stalled with the mend, and
// looks that nothing was made for it.
func expectNothingStamped(t *testing.T, namespace, reason, mend string) {
	t.Helper()
	tenant := harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, reason)
	stalled := apimeta.FindStatusCondition(tenant.Status.Conditions, "Stalled")
	if stalled == nil || stalled.Status != metav1.ConditionTrue {
		t.Errorf("the TenantGitOps is not stalled: %+v", tenant.Status.Conditions)
	}
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, mend)
	if left := harness.Leftovers(t, cluster.Client, namespace); len(left) > 0 {
		t.Errorf("stamped all the same: %v", left)
	}
}

// TestNothingIsStampedBesideAnUnshardedFlux takes the selector off the platform's
// own kustomize-controller, which then would run a tenant's Kustomization as
// cluster-admin.
func TestNothingIsStampedBesideAnUnshardedFlux(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "kustomize-controller"}}
	if !exists(t, deployment) {
		t.Fatal("the platform's kustomize-controller is not there")
	}
	good := deployment.DeepCopy()
	deployment.Spec.Template.Spec.Containers[0].Args = []string{"--watch-all-namespaces=true"}
	if err := cluster.Client.Patch(t.Context(), deployment, client.MergeFrom(good)); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-unsharded")
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))
	expectNothingStamped(t, tenant, "PlatformNotReady", "start it with --watch-label-selector=!sharding.fluxcd.io/key")

	// The mend works without a restart.
	mended := deployment.DeepCopy()
	mended.Spec.Template.Spec.Containers[0].Args = good.Spec.Template.Spec.Containers[0].Args
	if err := cluster.Client.Patch(t.Context(), mended, client.MergeFrom(deployment)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})
}

// TestNothingIsStampedWhereAFieldWouldBeDropped serves a Flux that does not know
// deletionPolicy: a stamped Kustomization would delete the tenant's applications
// with itself.
func TestNothingIsStampedWhereAFieldWouldBeDropped(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "kustomizations.kustomize.toolkit.fluxcd.io"}}
	if !exists(t, crd) {
		t.Fatal("the CRD is not there")
	}
	restore := func(t *testing.T, spec apiextensionsv1.CustomResourceDefinitionSpec) {
		stored := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name}}
		if !exists(t, stored) {
			t.Fatal("the CRD is gone")
		}
		stored.Spec = spec
		if err := cluster.Client.Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	old := crd.DeepCopy()
	for i := range old.Spec.Versions {
		delete(old.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "deletionPolicy")
	}
	restore(t, old.Spec)
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-oldflux")
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))
	expectNothingStamped(t, tenant, "PlatformNotReady", "does not know [spec.deletionPolicy]: upgrade Flux")

	restore(t, crd.Spec)
	harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})
}

// TestNamespaceThatIsNoTenantsIsRefused writes a TenantGitOps into a namespace
// of the platform.
func TestNamespaceThatIsNoTenantsIsRefused(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const namespace = "acme-no-tenant"
	if err := cluster.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	harness.Write(t, cluster.Client, namespace, unreachable("apps"))
	expectNothingStamped(t, namespace, "NotATenant", "create the TenantGitOps in a tenant's namespace")
	if err := cluster.Client.Delete(t.Context(), tenantGitOps(namespace)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps(namespace))
}
