package seal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/templates"
)

const (
	// NodesPolicy is the name of the clusterwide policy on what the nodes take in.
	NodesPolicy = "gitops-artifacts-nodes"
	// PodsPolicy is the name of that on what pods may open.
	PodsPolicy = "gitops-artifacts-pods"
	// CiliumPolicyCRD is the name of the CRD of their kind.
	CiliumPolicyCRD = "ciliumclusterwidenetworkpolicies.cilium.io"
)

// CiliumPolicies are the clusterwide policies that deny ports of every node to all
// but the nodes themselves and the pods of Flux's and the controllers' namespaces.
func CiliumPolicies(fluxNamespace, controllersNamespace string, ports []int32) ([]*unstructured.Unstructured, error) {
	var listed []any
	for _, port := range ports {
		listed = append(listed, map[string]any{"port": strconv.Itoa(int(port)), "protocol": string(corev1.ProtocolTCP)})
	}
	var policies []*unstructured.Unstructured
	for _, policy := range []struct{ template, rules string }{
		{"seal/artifacts-pods-ciliumclusterwidenetworkpolicy.yaml", "egressDeny"},
		{"seal/artifacts-nodes-ciliumclusterwidenetworkpolicy.yaml", "ingressDeny"},
	} {
		decoded, err := templates.Decode[unstructured.Unstructured](policy.template, templates.Variables{
			"fluxNamespace": fluxNamespace, "controllersNamespace": controllersNamespace,
		})
		if err != nil {
			return nil, err
		}
		rules, _, err := unstructured.NestedSlice(decoded.Object, "spec", policy.rules)
		if err != nil {
			return nil, fmt.Errorf("cannot read the rules of template %s: %w", policy.template, err)
		}
		for _, rule := range rules {
			// A rule without ports would deny all of them.
			rule.(map[string]any)["toPorts"] = []any{map[string]any{"ports": listed}}
		}
		if err := unstructured.SetNestedSlice(decoded.Object, rules, "spec", policy.rules); err != nil {
			return nil, fmt.Errorf("cannot fill in template %s: %w", policy.template, err)
		}
		policies = append(policies, decoded)
	}
	return policies, nil
}

// unknownToCilium are the fields of the policies that the served CRD would drop. One
// of them is what keeps a node open to all else, so that nothing may be written
// where it would be dropped.
func unknownToCilium(crd *apiextensionsv1.CustomResourceDefinition, policies []*unstructured.Unstructured) ([]string, error) {
	var unknown []string
	for _, policy := range policies {
		fields, err := platform.UnknownFields(crd, policy.GroupVersionKind().Version, policy.Object)
		if err != nil {
			return nil, err
		}
		unknown = append(unknown, fields...)
	}
	slices.Sort(unknown)
	return slices.Compact(unknown), nil
}

func hostPorts(servers []platform.ArtifactServer) []int32 {
	var ports []int32
	for _, server := range servers {
		ports = append(ports, server.Port)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

// sealNodes closes the ports of the nodes as far as can be, and says what that comes
// to: what is closed, or what is open, why, and the mend.
func (in Snapshot) sealNodes(sealed *Seal, servers []platform.ArtifactServer) (closed, open, reason string, err error) {
	ports := hostPorts(servers)
	if in.CiliumCRD == nil {
		return "", in.openNodes(servers, "since Flux runs on the host network, which a NetworkPolicy does not hold for, and Cilium's clusterwide policies are not served"), gitopsv1.ReasonFluxOnHostNetwork, nil
	}
	policies, err := CiliumPolicies(in.FluxNamespace, in.ControllersNamespace, ports)
	if err != nil {
		return "", "", "", err
	}
	unknown, mend := unknownToCilium(in.CiliumCRD, policies)
	if mend != nil {
		return "", in.openNodes(servers, fmt.Sprintf("since %v: upgrade Cilium", mend)), gitopsv1.ReasonCiliumTooOld, nil
	}
	if len(unknown) > 0 {
		return "", in.openNodes(servers, fmt.Sprintf("since the Cilium that runs here does not know %s, without which a policy would close the nodes altogether: upgrade Cilium, and its CRDs with it", strings.Join(unknown, ", "))), gitopsv1.ReasonCiliumTooOld, nil
	}
	for _, policy := range policies {
		sealed.Objects = append(sealed.Objects, policy)
	}
	return fmt.Sprintf("port %s of every node is open to the nodes themselves and to pods of namespaces %s and %s alone: CiliumClusterwideNetworkPolicy %s keeps pods away, and %s, where Cilium's host firewall is on, the world outside as well",
		joinPorts(ports), in.FluxNamespace, in.ControllersNamespace, PodsPolicy, NodesPolicy), "", "", nil
}

func (in Snapshot) openNodes(servers []platform.ArtifactServer, why string) string {
	var text []string
	for _, server := range servers {
		text = append(text, fmt.Sprintf("port %d of every node that runs %s", server.Port, server.Program))
	}
	return fmt.Sprintf("%s is open to every pod and to whoever reaches the nodes, %s; or close it with the nodes' own firewall for all but namespace %s, or run Flux as pods of the pod network",
		strings.Join(text, " and "), why, in.ControllersNamespace)
}
