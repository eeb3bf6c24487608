package stamp

import (
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/templates"
)

// Network is what a tenant's controller must reach, as the cluster is now.
type Network struct {
	// APIServer are the addresses behind the Service default/kubernetes.
	APIServer []netip.AddrPort
	// DNSNamespace and DNSPodLabels select the pods that answer DNS.
	DNSNamespace string
	DNSPodLabels map[string]string
	// Artifacts is where source-controller serves artifacts.
	Artifacts ArtifactEndpoint
	// Cilium says that Cilium's policies are served and are to be used.
	Cilium bool
}

// ArtifactEndpoint is where source-controller serves artifacts.
type ArtifactEndpoint struct {
	// Namespace and PodLabels select source-controller's pods.
	Namespace string
	PodLabels map[string]string
	// Port it listens on.
	Port int32
	// HostNetwork: it listens on its node's addresses, which no pod selector matches.
	HostNetwork bool
	// NodeAddresses are the addresses of all nodes, where HostNetwork is on.
	NodeAddresses []netip.Addr
}

// namespaceNameLabel is put on every namespace by the API server.
const namespaceNameLabel = "kubernetes.io/metadata.name"

const dnsPort = 53

func (b builder) networkPolicy(stack *Stack) error {
	if b.in.Network.Cilium {
		policy, err := b.ciliumPolicy()
		if err != nil {
			return err
		}
		stack.Controller = append([]client.Object{policy}, stack.Controller...)
		return nil
	}
	policy, err := templates.Decode[networkingv1.NetworkPolicy]("tenant/controller-networkpolicy.yaml", b.variables())
	if err != nil {
		return err
	}
	policy.Spec.Egress = b.in.Network.egress()
	// Before the Deployment, so that no pod runs a moment without it.
	stack.Controller = append([]client.Object{policy}, stack.Controller...)
	return nil
}

func (n Network) egress() []networkingv1.NetworkPolicyEgressRule {
	var rules []networkingv1.NetworkPolicyEgressRule
	for _, port := range apiServerPorts(n.APIServer) {
		var peers []networkingv1.NetworkPolicyPeer
		for _, address := range n.APIServer {
			if int32(address.Port()) == port {
				peers = append(peers, addressPeer(address.Addr()))
			}
		}
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{To: peers, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, port)}})
	}
	rules = append(rules, networkingv1.NetworkPolicyEgressRule{
		To:    []networkingv1.NetworkPolicyPeer{podPeer(n.DNSNamespace, n.DNSPodLabels)},
		Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolUDP, dnsPort), policyPort(corev1.ProtocolTCP, dnsPort)},
	})
	artifacts := networkingv1.NetworkPolicyEgressRule{
		Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, n.Artifacts.Port)},
	}
	if n.Artifacts.HostNetwork {
		for _, address := range n.Artifacts.NodeAddresses {
			artifacts.To = append(artifacts.To, addressPeer(address))
		}
	} else {
		artifacts.To = []networkingv1.NetworkPolicyPeer{podPeer(n.Artifacts.Namespace, n.Artifacts.PodLabels)}
	}
	// A rule without peers would allow every address on that port.
	if len(artifacts.To) > 0 {
		rules = append(rules, artifacts)
	}
	return rules
}

func apiServerPorts(addresses []netip.AddrPort) []int32 {
	var ports []int32
	for _, address := range addresses {
		ports = append(ports, int32(address.Port()))
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}

func addressPeer(address netip.Addr) networkingv1.NetworkPolicyPeer {
	prefix := netip.PrefixFrom(address, address.BitLen())
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: prefix.String()}}
}

func podPeer(namespace string, podLabels map[string]string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{namespaceNameLabel: namespace}},
		PodSelector:       &metav1.LabelSelector{MatchLabels: podLabels},
	}
}

func policyPort(protocol corev1.Protocol, port int32) networkingv1.NetworkPolicyPort {
	number := intstr.FromInt32(port)
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &number}
}

// ciliumPolicy is the same policy by entity: Cilium matches neither nodes nor
// the API server by address block.
func (b builder) ciliumPolicy() (*unstructured.Unstructured, error) {
	policy, err := templates.Decode[unstructured.Unstructured]("tenant/controller-ciliumnetworkpolicy.yaml", b.variables())
	if err != nil {
		return nil, err
	}
	n := b.in.Network
	var egress []any
	var apiPorts []any
	for _, port := range apiServerPorts(n.APIServer) {
		apiPorts = append(apiPorts, ciliumPort(port, "TCP"))
	}
	egress = append(egress, map[string]any{
		"toEntities": []any{"kube-apiserver"},
		"toPorts":    []any{map[string]any{"ports": apiPorts}},
	}, map[string]any{
		"toEndpoints": []any{ciliumEndpoint(n.DNSNamespace, n.DNSPodLabels)},
		"toPorts":     []any{map[string]any{"ports": []any{ciliumPort(dnsPort, "UDP"), ciliumPort(dnsPort, "TCP")}}},
	})
	artifacts := map[string]any{
		"toPorts": []any{map[string]any{"ports": []any{ciliumPort(n.Artifacts.Port, "TCP")}}},
	}
	if n.Artifacts.HostNetwork {
		artifacts["toEntities"] = []any{"host", "remote-node"}
	} else {
		artifacts["toEndpoints"] = []any{ciliumEndpoint(n.Artifacts.Namespace, n.Artifacts.PodLabels)}
	}
	if err := unstructured.SetNestedSlice(policy.Object, append(egress, artifacts), "spec", "egress"); err != nil {
		return nil, err
	}
	return policy, nil
}

func ciliumPort(port int32, protocol string) map[string]any {
	return map[string]any{"port": strconv.Itoa(int(port)), "protocol": protocol}
}

func ciliumEndpoint(namespace string, podLabels map[string]string) map[string]any {
	match := map[string]any{"k8s:io.kubernetes.pod.namespace": namespace}
	for key, value := range podLabels {
		match["k8s:"+key] = value
	}
	return map[string]any{"matchLabels": match}
}
