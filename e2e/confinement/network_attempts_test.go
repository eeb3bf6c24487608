package confinement_test

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

const ofTheController = "podSelector: {matchLabels: {app.kubernetes.io/instance: " + controller + "}}, policyTypes: [Ingress, Egress]"

func networkPolicy(namespace, name, spec string) string {
	return fmt.Sprintf(`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {namespace: %s, name: %s}, spec: {%s}}`, namespace, name, spec)
}

func ciliumPolicy(kind, namespace, name, spec string) string {
	return fmt.Sprintf(`{apiVersion: cilium.io/v2, kind: %s, metadata: {namespace: %q, name: %s}, spec: {%s}}`, kind, namespace, name, spec)
}

// networkAttempts are the ways to open, or to shut, a network by policies.
func networkAttempts() []attempt {
	const controllers, ports = "cozy-gitops-tenants", "ports: [{port: 443, protocol: TCP}]"
	const ciliumController = "endpointSelector: {matchLabels: {app.kubernetes.io/instance: " + controller + "}}"
	const ciliumPorts = "toPorts: [{ports: [{port: '443', protocol: TCP}]}]"
	const quiet = "enableDefaultDeny: {ingress: false, egress: false}, nodeSelector: {}"
	return []attempt{
		create("open the network beside Flux", networkPolicy("cozy-fluxcd", "theft", "podSelector: {}")),
		create("open the network of all controllers", networkPolicy(controllers, controller, "podSelector: {}, policyTypes: [Ingress, Egress], egress: [{}]")),
		create("open the network of a controller", networkPolicy(controllers, controller, ofTheController+", egress: [{}]")),
		create("hold a controller one way only", networkPolicy(controllers, controller, "podSelector: {matchLabels: {app.kubernetes.io/instance: "+controller+"}}, policyTypes: [Ingress]")),
		create("lead a controller into the internet", networkPolicy(controllers, controller, ofTheController+", egress: [{"+ports+", to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]")),
		create("lead a controller to every port of an address", networkPolicy(controllers, controller, ofTheController+", egress: [{to: [{ipBlock: {cidr: 192.0.2.1/32}}]}]")),
		create("lead a controller to every pod", networkPolicy(controllers, controller, ofTheController+", egress: [{"+ports+", to: [{namespaceSelector: {}, podSelector: {}}]}]")),
		create("lead a controller to one port of one address", networkPolicy(controllers, controller, ofTheController+", egress: [{"+ports+", to: [{ipBlock: {cidr: 192.0.2.1/32}}]}]")),
		remove("take the network policy of a controller away", &networkingv1.NetworkPolicy{ObjectMeta: named(controllers, "kustomize-controller-"+other)}),
		create("shut what leaves Flux", networkPolicy("cozy-fluxcd", "gitops-artifacts-theft", "podSelector: {}, policyTypes: [Egress]")),
		create("open the artifacts' port beside Flux", networkPolicy("cozy-fluxcd", "gitops-artifacts-theft", "podSelector: {}, policyTypes: [Ingress], ingress: [{}]")),
		create("open the network of all pods by Cilium", ciliumPolicy("CiliumNetworkPolicy", controllers, controller, "endpointSelector: {}, egress: [{toEntities: [all]}]")),
		create("lead a controller into the internet by Cilium", ciliumPolicy("CiliumNetworkPolicy", controllers, controller, ciliumController+", egress: [{toEntities: [world], "+ciliumPorts+"}]")),
		create("lead a controller to a network by Cilium", ciliumPolicy("CiliumNetworkPolicy", controllers, controller, ciliumController+", egress: [{toCIDR: [0.0.0.0/0], "+ciliumPorts+"}]")),
		create("lead a controller to all ports of nodes by Cilium", ciliumPolicy("CiliumNetworkPolicy", controllers, controller, ciliumController+", egress: [{toEntities: [host]}]")),
		create("write a controller's policy of Cilium as the operator does", ciliumPolicy("CiliumNetworkPolicy", controllers, controller, ciliumController+", egress: [{toEntities: [kube-apiserver], "+ciliumPorts+"}]")),
		create("hide a rule in specs", strings.Replace(ciliumPolicy("CiliumNetworkPolicy", controllers, controller, ciliumController), "spec:", "specs: [{endpointSelector: {}, egress: [{toEntities: [all]}]}], spec:", 1)),
		create("write a clusterwide policy of another name", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "theft", quiet)),
		create("open nodes by a clusterwide policy", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "gitops-artifacts-nodes", quiet+", ingress: [{fromEntities: [all]}]")),
		create("shut all of the nodes by a clusterwide policy", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "gitops-artifacts-nodes", "nodeSelector: {}, ingressDeny: [{fromEntities: [world], "+ciliumPorts+"}]")),
		create("shut all ports by a clusterwide policy", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "gitops-artifacts-nodes", quiet+", ingressDeny: [{fromEntities: [world]}]")),
		create("shut a port by a clusterwide policy", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "gitops-artifacts-nodes", quiet+", ingressDeny: [{fromEntities: [world], "+ciliumPorts+"}]")),
	}
}

// serveCilium serves the two kinds of Cilium in any form: nothing enforces them here,
// what may be written is what is asked.
func serveCilium(t *testing.T, c *embedded.Cluster) {
	t.Helper()
	anything := true
	for kind, scope := range map[string]apiextensionsv1.ResourceScope{
		"CiliumNetworkPolicy": apiextensionsv1.NamespaceScoped, "CiliumClusterwideNetworkPolicy": apiextensionsv1.ClusterScoped,
	} {
		singular := strings.ToLower(kind)
		plural := strings.TrimSuffix(singular, "y") + "ies"
		crd := &apiextensionsv1.CustomResourceDefinition{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
			ObjectMeta: metav1.ObjectMeta{Name: plural + ".cilium.io"},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: "cilium.io", Scope: scope,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, ListKind: kind + "List", Plural: plural, Singular: singular},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v2", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: &anything,
					}},
				}},
			},
		}
		if err := manifests.Apply(t.Context(), c.Client, crd); err != nil {
			t.Fatal(err)
		}
	}
}
