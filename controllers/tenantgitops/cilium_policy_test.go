package tenantgitops_test

import (
	"context"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// ciliumCRD serves CiliumNetworkPolicies of any form: what is looked at is which
// policy is stamped, not whether Cilium takes it.
func ciliumCRD() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "ciliumnetworkpolicies.cilium.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cilium.io",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "CiliumNetworkPolicy", ListKind: "CiliumNetworkPolicyList", Plural: "ciliumnetworkpolicies", Singular: "ciliumnetworkpolicy"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v2", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
}

// TestCiliumsPolicyTakesTheOthersPlace begins to serve Cilium's kind beside an
// enabled tenant, and takes the tenant down.
func TestCiliumsPolicyTakesTheOthersPlace(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-cilium")
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))
	meta := metav1.ObjectMeta{Namespace: "cozy-gitops-tenants", Name: "kustomize-controller-tenant-cilium"}
	plain := &networkingv1.NetworkPolicy{ObjectMeta: meta}
	harness.AwaitExists(t, cluster.Client, plain)

	if err := manifests.Apply(t.Context(), cluster.Client, ciliumCRD()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := cluster.Client.Delete(context.Background(), ciliumCRD()); err != nil {
			t.Errorf("the kind stays served, and changes the tests after this one: %v", err)
		}
	})
	harness.Request(t, cluster.Client, tenant)
	policy := &unstructured.Unstructured{}
	policy.SetGroupVersionKind(schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"})
	policy.SetNamespace(meta.Namespace)
	policy.SetName(meta.Name)
	harness.AwaitExists(t, cluster.Client, policy)
	harness.AwaitGone(t, cluster.Client, plain)
	egress, _, _ := unstructured.NestedSlice(policy.Object, "spec", "egress")
	if len(egress) != 3 {
		t.Errorf("the policy has %d egress rules, want 3: API server, DNS, artifacts", len(egress))
	}

	if err := cluster.Client.Delete(t.Context(), tenantGitOps(tenant)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps(tenant))
	harness.AwaitGone(t, cluster.Client, policy)
}
