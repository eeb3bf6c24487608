package seal

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/templates"
)

const (
	// SourcesLabelValue is that of Label on what contains source-controller.
	SourcesLabelValue = "sources"
	dnsPort           = 53
	sourceController  = "source-controller"
)

// Egress is what source-controller must reach beside the internet.
type Egress struct {
	// Mode and AllowedNetworks are an admin's (GitOpsParameters).
	Mode            gitopsv1.SourceEgressMode
	AllowedNetworks []string
	// DNSNamespace and DNSPodLabels select the pods that answer DNS.
	DNSNamespace string
	DNSPodLabels map[string]string
	// APIServer are the addresses behind the Service default/kubernetes.
	APIServer []netip.AddrPort
}

// ComputeEgress returns what contains source-controller, which fetches what tenants
// name: it may reach the internet, and nothing internal but what it needs and an admin
// allows.
func ComputeEgress(in Snapshot) (Seal, error) {
	switch {
	case in.Tenants == 0:
		return Seal{Verdict: Verdict{
			Reason:  gitopsv1.ReasonNoTenantGitOps,
			Message: "there is no TenantGitOps, so nothing is contained and nothing of the platform is changed",
		}}, nil
	case in.Mend != nil:
		return Seal{Keep: true, Verdict: Verdict{
			Reason:  gitopsv1.ReasonPlatformNotReady,
			Message: fmt.Sprintf("cannot tell what to contain: %v", in.Mend),
		}}, nil
	}
	at := slices.IndexFunc(in.Servers, func(s platform.ArtifactServer) bool { return s.Program == sourceController })
	if at < 0 {
		return Seal{Keep: true, Verdict: Verdict{Reason: gitopsv1.ReasonPlatformNotReady, Message: "cannot tell what to contain: source-controller is not found"}}, nil
	}
	source := in.Servers[at]
	const open = "a host name that resolves to an internal address, or a redirect to one, is fetched for a tenant"
	switch {
	case source.HostNetwork:
		return Seal{Verdict: Verdict{
			Reason:  gitopsv1.ReasonFluxOnHostNetwork,
			Message: open + ": source-controller runs on the host network, which a NetworkPolicy does not hold for; run it as a pod of the pod network, or contain its node",
		}}, nil
	case in.Egress.Mode != gitopsv1.SourceEgressPublicOnly:
		return Seal{Verdict: Verdict{
			Reason:  gitopsv1.ReasonEgressOpen,
			Message: open + ": set spec.sourceEgress.mode to PublicOnly, with the networks that the platform's own sources are fetched from in allowedNetworks",
		}}, nil
	}
	if len(in.Egress.APIServer) == 0 {
		// One that goes takes itself out; a policy without it would cut all of Flux off.
		return Seal{Keep: true, Verdict: Verdict{
			Reason:  gitopsv1.ReasonPlatformNotReady,
			Message: "cannot tell what to contain: the Service default/kubernetes has no endpoints; what is there stays",
		}}, nil
	}
	policy, err := in.egressPolicy(source)
	if err != nil {
		return Seal{}, err
	}
	sealed := Seal{Objects: []client.Object{policy}}
	if other := in.egressOfOthers(source); other != "" {
		sealed.Verdict = Verdict{
			Reason: gitopsv1.ReasonOpenedByAnotherPolicy,
			Message: fmt.Sprintf("%s: policies add up, and NetworkPolicy %s/%s lets source-controller out as well: take its pods out of it",
				open, in.FluxNamespace, other),
		}
		return sealed, nil
	}
	message := fmt.Sprintf("source-controller reaches the public internet, DNS, the API server and pods of namespace %s alone, by NetworkPolicy %s", in.FluxNamespace, policy.Name)
	if len(in.Egress.AllowedNetworks) > 0 {
		message += fmt.Sprintf("; and %v, which an admin allows", in.Egress.AllowedNetworks)
	}
	sealed.Verdict = Verdict{Sealed: true, Reason: gitopsv1.ReasonContainedByNetworkPolicy, Message: message}
	return sealed, nil
}

func egressPolicyName(source platform.ArtifactServer) string {
	return "gitops-sources-" + source.Deployment
}

func (in Snapshot) egressPolicy(source platform.ArtifactServer) (*networkingv1.NetworkPolicy, error) {
	policy, err := templates.Decode[networkingv1.NetworkPolicy]("seal/sources-networkpolicy.yaml", templates.Variables{
		"policy": egressPolicyName(source), "fluxNamespace": in.FluxNamespace,
	})
	if err != nil {
		return nil, err
	}
	policy.Spec.PodSelector.MatchLabels = source.PodLabels
	dns := networkingv1.NetworkPolicyEgressRule{
		To: []networkingv1.NetworkPolicyPeer{{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{namespaceNameLabel: in.Egress.DNSNamespace}},
			PodSelector:       &metav1.LabelSelector{MatchLabels: in.Egress.DNSPodLabels},
		}},
		Ports: []networkingv1.NetworkPolicyPort{portRange(corev1.ProtocolUDP, dnsPort, dnsPort), portRange(corev1.ProtocolTCP, dnsPort, dnsPort)},
	}
	policy.Spec.Egress = append(policy.Spec.Egress, dns)
	for _, address := range in.Egress.APIServer {
		policy.Spec.Egress = append(policy.Spec.Egress, networkingv1.NetworkPolicyEgressRule{
			To:    []networkingv1.NetworkPolicyPeer{block(netip.PrefixFrom(address.Addr(), address.Addr().BitLen()).String())},
			Ports: []networkingv1.NetworkPolicyPort{portRange(corev1.ProtocolTCP, int32(address.Port()), int32(address.Port()))},
		})
	}
	allowed := networkingv1.NetworkPolicyEgressRule{}
	for _, network := range in.Egress.AllowedNetworks {
		allowed.To = append(allowed.To, block(network))
	}
	// A rule without peers would allow every address.
	if len(allowed.To) > 0 {
		policy.Spec.Egress = append(policy.Spec.Egress, allowed)
	}
	return policy, nil
}

func block(cidr string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}
}

// egressOfOthers names a policy of somebody else that lets source-controller out. What
// exactly it opens is not looked at: it is said, and an admin decides.
func (in Snapshot) egressOfOthers(source platform.ArtifactServer) string {
	for _, policy := range in.Policies {
		selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
		if policy.Labels[Label] != "" || policy.Name == egressPolicyName(source) || err != nil || !selector.Matches(labels.Set(source.TemplateLabels)) {
			continue
		}
		// Without types a policy with rules for what goes out holds for that as well.
		if len(policy.Spec.Egress) > 0 && (len(policy.Spec.PolicyTypes) == 0 || slices.Contains(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)) {
			return policy.Name
		}
	}
	return ""
}
