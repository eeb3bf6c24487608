package hostnetwork_test

import (
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/seal"
)

func clusterwide(name string) *unstructured.Unstructured {
	policy := &unstructured.Unstructured{}
	policy.SetGroupVersionKind(schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumClusterwideNetworkPolicy"})
	policy.SetName(name)
	return policy
}

// serveCilium serves the kind of Cilium's clusterwide policies for the length of a test:
// of any form, or with those fields alone which an old Cilium had.
func serveCilium(t *testing.T, old bool) {
	t.Helper()
	yes := true
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}
	if old {
		loose := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}
		list := apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &loose}}
		spec = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
			"nodeSelector": loose, "endpointSelector": loose, "ingressDeny": list, "egressDeny": list,
		}}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: seal.CiliumPolicyCRD},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "cilium.io",
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "CiliumClusterwideNetworkPolicy", ListKind: "CiliumClusterwideNetworkPolicyList", Plural: "ciliumclusterwidenetworkpolicies", Singular: "ciliumclusterwidenetworkpolicy"},
			Scope: apiextensionsv1.ClusterScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v2", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		},
	}
	if err := manifests.Apply(t.Context(), cluster.Client, crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := cluster.Client.Delete(context.Background(), crd); err != nil {
			t.Errorf("the kind stays served, and changes the tests after this one: %v", err)
		}
		err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
			return apierrors.IsNotFound(cluster.Client.Get(ctx, client.ObjectKeyFromObject(crd), crd)), nil
		})
		if err != nil {
			t.Errorf("the kind is still served: %v", err)
		}
	})
}

// TestNodesPortIsSealedByCilium serves Cilium's kind beside a Flux on the host network:
// an old one, with which a policy would close the nodes altogether, and one of today.
func TestNodesPortIsSealedByCilium(t *testing.T) {
	parameters := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
	if err := cluster.Client.Create(t.Context(), parameters); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-cilium")
	harness.Write(t, cluster.Client, namespace, gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/apps"}})
	awaitVerdict(t, metav1.ConditionFalse, "FluxOnHostNetwork", "Cilium's clusterwide policies are not served")

	t.Run("with an old one", func(t *testing.T) {
		serveCilium(t, true)
		awaitVerdict(t, metav1.ConditionFalse, "CiliumTooOld", "does not know spec.enableDefaultDeny")
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(clusterwide("").GroupVersionKind())
		if err := cluster.Client.List(t.Context(), list); err != nil || len(list.Items) != 0 {
			t.Errorf("%d policies, which would close the nodes; %v", len(list.Items), err)
		}
	})
	t.Run("with one of today", func(t *testing.T) {
		serveCilium(t, false)
		awaitVerdict(t, metav1.ConditionTrue, "SealedByCilium", "port 9790 of every node")
		for _, name := range []string{seal.NodesPolicy, seal.PodsPolicy} {
			policy := clusterwide(name)
			harness.AwaitExists(t, cluster.Client, policy)
			if err := cluster.Client.Delete(t.Context(), policy); err != nil {
				t.Fatal(err)
			}
			// It is made again, without anybody's asking.
			harness.AwaitExists(t, cluster.Client, clusterwide(name))
		}
		tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
		if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, clusterwide(seal.NodesPolicy))
		harness.AwaitGone(t, cluster.Client, clusterwide(seal.PodsPolicy))
		awaitVerdict(t, metav1.ConditionFalse, "NoTenantGitOps", "")
	})
}
