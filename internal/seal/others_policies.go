package seal

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// othersPolicies are those of somebody else that hold for what comes into these pods.
// They add up with the operator's: whatever any of them lets in comes in.
func (in Snapshot) othersPolicies(pods podGroup) []networkingv1.NetworkPolicy {
	var found []networkingv1.NetworkPolicy
	for _, policy := range in.Policies {
		selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		// One of that name is the operator's, also where somebody took its label off.
		if policy.Labels[Label] == LabelValue || policy.Name == pods.policyName() || err != nil || !selector.Matches(labels.Set(pods.allLabels)) {
			continue
		}
		// Without types a policy holds for what comes in.
		if len(policy.Spec.PolicyTypes) == 0 || slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) {
			found = append(found, policy)
		}
	}
	return found
}

// admitsOutsiders says whether a policy lets anybody from outside of its namespace to
// a TCP port. A port by name may be any.
func admitsOutsiders(policy networkingv1.NetworkPolicy, namespace string, port int32) bool {
	for _, rule := range policy.Spec.Ingress {
		if coversPort(rule.Ports, port) && fromOutside(rule.From, namespace) {
			return true
		}
	}
	return false
}

func coversPort(ports []networkingv1.NetworkPolicyPort, port int32) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		switch {
		case p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP:
			return false
		case p.Port == nil || p.Port.Type == intstr.String:
			return true
		case p.EndPort != nil:
			return p.Port.IntVal <= port && port <= *p.EndPort
		}
		return p.Port.IntVal == port
	})
}

func fromOutside(peers []networkingv1.NetworkPolicyPeer, namespace string) bool {
	return len(peers) == 0 || slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil {
			return true
		}
		selector := peer.NamespaceSelector
		return selector != nil && selector.MatchLabels[namespaceNameLabel] != namespace
	})
}
