package seal

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cozystack/gitops-operator/templates"
)

const (
	// namespaceNameLabel is put on every namespace by the API server.
	namespaceNameLabel = "kubernetes.io/metadata.name"
	firstPort          = 1
	lastPort           = 65535
)

// tenantControllers is what the pods of all tenants' controllers carry (see
// templates/tenant/controller-deployment.yaml).
var tenantControllers = map[string]string{"app.kubernetes.io/name": "kustomize-controller"}

// networkPolicy lets to the artifact ports of some pods those of Flux's namespace and
// the tenants' controllers. A policy closes all that it does not open, so it opens all
// other ports; not so where policies of somebody else hold for these pods already:
// those decide about the other ports, and this one must not open what they close.
func (in Snapshot) networkPolicy(pods podGroup, othersHold bool) (*networkingv1.NetworkPolicy, error) {
	policy, err := templates.Decode[networkingv1.NetworkPolicy]("seal/artifacts-networkpolicy.yaml", templates.Variables{
		"policy": pods.policyName(), "fluxNamespace": in.FluxNamespace,
	})
	if err != nil {
		return nil, err
	}
	policy.Spec.PodSelector.MatchLabels = pods.labels
	artifacts := networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{}},
		{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{namespaceNameLabel: in.ControllersNamespace}},
			PodSelector:       &metav1.LabelSelector{MatchLabels: tenantControllers},
		},
	}}
	for _, port := range pods.ports {
		artifacts.Ports = append(artifacts.Ports, portRange(corev1.ProtocolTCP, port, port))
	}
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{artifacts}
	if !othersHold {
		policy.Spec.Ingress = append(policy.Spec.Ingress, networkingv1.NetworkPolicyIngressRule{Ports: otherPorts(pods.ports)})
	}
	return policy, nil
}

// otherPorts are all but these TCP ports, which are in order.
func otherPorts(ports []int32) []networkingv1.NetworkPolicyPort {
	var ranges []networkingv1.NetworkPolicyPort
	next := int32(firstPort)
	for _, port := range ports {
		if port > next {
			ranges = append(ranges, portRange(corev1.ProtocolTCP, next, port-1))
		}
		next = port + 1
	}
	if next <= lastPort {
		ranges = append(ranges, portRange(corev1.ProtocolTCP, next, lastPort))
	}
	for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolSCTP} {
		ranges = append(ranges, networkingv1.NetworkPolicyPort{Protocol: &protocol})
	}
	return ranges
}

func portRange(protocol corev1.Protocol, first, last int32) networkingv1.NetworkPolicyPort {
	number := intstr.FromInt32(first)
	port := networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: &number}
	if last > first {
		port.EndPort = &last
	}
	return port
}
