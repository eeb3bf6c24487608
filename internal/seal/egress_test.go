package seal_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/seal"
)

func publicOnly(networks ...string) seal.Snapshot {
	in := inPods()
	in.Egress = seal.Egress{
		Mode: gitopsv1.SourceEgressPublicOnly, AllowedNetworks: networks,
		DNSNamespace: "kube-system", DNSPodLabels: map[string]string{"k8s-app": "kube-dns"},
		APIServer: []netip.AddrPort{netip.MustParseAddrPort("10.0.0.5:6443"), netip.MustParseAddrPort("[fd00::5]:6443")},
	}
	return in
}

func contain(t *testing.T, in seal.Snapshot) seal.Seal {
	t.Helper()
	computed, err := seal.ComputeEgress(in)
	if err != nil {
		t.Fatal(err)
	}
	return computed
}

// reaches is what the API says of an egress policy: whether it lets to an address and
// TCP port that belong to no pod.
func reaches(t *testing.T, policy *networkingv1.NetworkPolicy, to string, port int32) bool {
	t.Helper()
	address := netip.MustParseAddr(to)
	for _, rule := range policy.Spec.Egress {
		if len(rule.To) == 0 {
			t.Fatal("a rule without peers lets everywhere")
		}
		fits := len(rule.Ports) == 0
		for _, p := range rule.Ports {
			fits = fits || *p.Protocol == "TCP" && p.Port.IntVal == port
		}
		for _, peer := range rule.To {
			if peer.IPBlock == nil || !fits {
				continue
			}
			inside := netip.MustParsePrefix(peer.IPBlock.CIDR).Contains(address)
			for _, except := range peer.IPBlock.Except {
				inside = inside && !netip.MustParsePrefix(except).Contains(address)
			}
			if inside {
				return true
			}
		}
	}
	return false
}

func TestSourceControllerReachesThePublicInternetOnly(t *testing.T) {
	policy := onlyPolicy(t, contain(t, publicOnly("192.168.7.0/24", "fd12::/64")))
	for _, open := range []string{"93.184.215.14", "8.8.8.8", "172.32.0.1", "11.0.0.1", "100.128.0.1", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "192.168.7.9", "fd12::9"} {
		if !reaches(t, policy, open, 443) {
			t.Errorf("%s is not reached", open)
		}
	}
	for _, closed := range []string{
		"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.8.1", "127.0.0.1", "0.0.0.0",
		"169.254.169.254", "100.64.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "192.0.0.192",
		"::1", "::", "fc00::1", "fd12:1::1", "fe80::1", "ff02::1", "64:ff9b::a00:1", "2002:a00:1::", "2001::1", "fd00:ec2::254",
	} {
		if reaches(t, policy, closed, 443) {
			t.Errorf("%s is reached", closed)
		}
	}
	for port, want := range map[int32]bool{6443: true, 443: false, 10250: false} {
		for _, address := range []string{"10.0.0.5", "fd00::5"} {
			if got := reaches(t, policy, address, port); got != want {
				t.Errorf("the API server at %s, port %d: reached %t, want %t", address, port, got, want)
			}
		}
	}
	if policy.Namespace != "cozy-fluxcd" || len(policy.Spec.PodSelector.MatchLabels) == 0 || len(policy.Spec.PolicyTypes) != 1 || policy.Spec.PolicyTypes[0] != networkingv1.PolicyTypeEgress {
		t.Errorf("the policy is for %s/%v, %v", policy.Namespace, policy.Spec.PodSelector, policy.Spec.PolicyTypes)
	}
}

func TestWhatIsSaidOfTheContainment(t *testing.T) {
	with := func(change func(*seal.Snapshot)) seal.Snapshot {
		in := publicOnly()
		change(&in)
		return in
	}
	others := func(policy networkingv1.NetworkPolicySpec) seal.Snapshot {
		return with(func(in *seal.Snapshot) {
			in.Policies = []networkingv1.NetworkPolicy{{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "allow-egress"}, Spec: policy}}
		})
	}
	anything := []networkingv1.NetworkPolicyEgressRule{{}}
	both := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}
	for name, test := range map[string]struct {
		in      seal.Snapshot
		reason  string
		objects int
		says    string
	}{
		"asked for":                     {publicOnly("10.1.0.0/16"), gitopsv1.ReasonContainedByNetworkPolicy, 1, "10.1.0.0/16"},
		"not asked for":                 {inPods(), gitopsv1.ReasonEgressOpen, 0, "PublicOnly"},
		"nobody uses it":                {with(func(in *seal.Snapshot) { in.Tenants = 0 }), gitopsv1.ReasonNoTenantGitOps, 0, "no TenantGitOps"},
		"flux is not to be found":       {with(func(in *seal.Snapshot) { in.Mend = errors.New("install it") }), gitopsv1.ReasonPlatformNotReady, 0, "install it"},
		"the api server has no address": {with(func(in *seal.Snapshot) { in.Egress.APIServer = nil }), gitopsv1.ReasonPlatformNotReady, 0, "no endpoints"},
		"another selects by a label of the pods alone": {others(networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"part-of": "flux"}}, PolicyTypes: both, Egress: anything}), gitopsv1.ReasonOpenedByAnotherPolicy, 1, "allow-egress"},
		"on the host network":                          {with(func(in *seal.Snapshot) { in.Servers[0].HostNetwork = true }), gitopsv1.ReasonFluxOnHostNetwork, 0, "host network"},
		"another lets out":                             {others(networkingv1.NetworkPolicySpec{PolicyTypes: both, Egress: anything}), gitopsv1.ReasonOpenedByAnotherPolicy, 1, "allow-egress"},
		"another lets out, without types":              {others(networkingv1.NetworkPolicySpec{Egress: anything}), gitopsv1.ReasonOpenedByAnotherPolicy, 1, "allow-egress"},
		"another lets in only":                         {others(networkingv1.NetworkPolicySpec{}), gitopsv1.ReasonContainedByNetworkPolicy, 1, ""},
		"another lets other pods out":                  {others(networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, PolicyTypes: both, Egress: anything}), gitopsv1.ReasonContainedByNetworkPolicy, 1, ""},
		"another shuts":                                {others(networkingv1.NetworkPolicySpec{PolicyTypes: both}), gitopsv1.ReasonContainedByNetworkPolicy, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			computed := contain(t, test.in)
			if computed.Verdict.Reason != test.reason || len(computed.Objects) != test.objects || !strings.Contains(computed.Verdict.Message, test.says) {
				t.Errorf("%d objects, %s: %s", len(computed.Objects), computed.Verdict.Reason, computed.Verdict.Message)
			}
			if computed.Verdict.Sealed != (test.reason == gitopsv1.ReasonContainedByNetworkPolicy) {
				t.Errorf("contained: %t", computed.Verdict.Sealed)
			}
			if computed.Keep != (test.reason == gitopsv1.ReasonPlatformNotReady) {
				t.Errorf("keep: %t", computed.Keep)
			}
		})
	}
}
