package seal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/seal"
)

var (
	// sourcePods is what a Deployment selects by, podLabels all that its pods carry.
	sourcePods = map[string]string{"app": "source-controller"}
	podLabels  = map[string]string{"app": "source-controller", "part-of": "flux"}
)

func inPods() seal.Snapshot {
	return seal.Snapshot{
		Tenants: 1, FluxNamespace: "cozy-fluxcd", ControllersNamespace: "cozy-gitops-tenants",
		Servers: []platform.ArtifactServer{{Program: "source-controller", Deployment: "source-controller", PodLabels: sourcePods, TemplateLabels: podLabels, Port: 9090}},
	}
}

func compute(t *testing.T, in seal.Snapshot) seal.Seal {
	t.Helper()
	computed, err := seal.Compute(in)
	if err != nil {
		t.Fatal(err)
	}
	return computed
}

// onlyPolicy is the one policy of a seal.
func onlyPolicy(t *testing.T, computed seal.Seal) *networkingv1.NetworkPolicy {
	t.Helper()
	if len(computed.Objects) != 1 {
		t.Fatalf("%d objects, want one", len(computed.Objects))
	}
	return computed.Objects[0].(*networkingv1.NetworkPolicy)
}

// peer is who opens a connection.
type peer struct {
	namespace string
	labels    map[string]string
}

// admits is what the API says of an ingress policy: whether it lets the peer in.
func admits(t *testing.T, policy *networkingv1.NetworkPolicy, from peer, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	matches := func(selector *metav1.LabelSelector, set map[string]string) bool {
		parsed, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Matches(labels.Set(set))
	}
	for _, rule := range policy.Spec.Ingress {
		portMatches := len(rule.Ports) == 0
		for _, p := range rule.Ports {
			last := port
			if p.EndPort != nil {
				last = *p.EndPort
			} else if p.Port != nil {
				last = p.Port.IntVal
			}
			portMatches = portMatches || *p.Protocol == protocol && (p.Port == nil || p.Port.IntVal <= port && port <= last)
		}
		peerMatches := len(rule.From) == 0
		for _, p := range rule.From {
			namespaceMatches := from.namespace == policy.Namespace
			if p.NamespaceSelector != nil {
				namespaceMatches = matches(p.NamespaceSelector, map[string]string{"kubernetes.io/metadata.name": from.namespace})
			}
			peerMatches = peerMatches || namespaceMatches && matches(p.PodSelector, from.labels)
		}
		if portMatches && peerMatches {
			return true
		}
	}
	return false
}

var (
	tenantsPod       = peer{namespace: "tenant-acme", labels: map[string]string{"app": "web"}}
	pretender        = peer{namespace: "tenant-acme", labels: map[string]string{"app.kubernetes.io/name": "kustomize-controller", "app": "kustomize-controller"}}
	allowedToAPI     = peer{namespace: "tenant-acme", labels: map[string]string{"policy.cozystack.io/allow-to-apiserver": "true"}}
	fluxPod          = peer{namespace: "cozy-fluxcd", labels: map[string]string{"app": "kustomize-controller"}}
	tenantController = peer{namespace: "cozy-gitops-tenants", labels: map[string]string{"app.kubernetes.io/name": "kustomize-controller"}}
	besideController = peer{namespace: "cozy-gitops-tenants", labels: map[string]string{"app": "web"}}
)

// TestArtifactPortIsForFluxAndTenantsControllers asks who comes in on which port.
func TestArtifactPortIsForFluxAndTenantsControllers(t *testing.T) {
	computed := compute(t, inPods())
	policy := onlyPolicy(t, computed)
	for name, tc := range map[string]struct {
		from peer
		want bool
	}{
		"a tenant's pod": {tenantsPod, false},
		"a tenant's pod with a controller's labels":   {pretender, false},
		"a tenant's pod that may reach the API":       {allowedToAPI, false},
		"Flux":                                        {fluxPod, true},
		"a tenant's controller":                       {tenantController, true},
		"another pod beside the tenants' controllers": {besideController, false},
	} {
		if got := admits(t, policy, tc.from, corev1.ProtocolTCP, 9090); got != tc.want {
			t.Errorf("%s comes to the artifacts: %t, want %t", name, got, tc.want)
		}
		for _, port := range []int32{1, 80, 8080, 9089, 9091, 9440, 65535} {
			if !admits(t, policy, tc.from, corev1.ProtocolTCP, port) {
				t.Errorf("%s does not come to port %d, which has been open", name, port)
			}
		}
		for _, protocol := range []corev1.Protocol{corev1.ProtocolUDP, corev1.ProtocolSCTP} {
			if !admits(t, policy, tc.from, protocol, 9090) {
				t.Errorf("%s does not come to %s port 9090, which has been open", name, protocol)
			}
		}
	}
	if policy.Namespace != "cozy-fluxcd" || policy.Spec.PodSelector.MatchLabels["app"] != "source-controller" || len(policy.Spec.PolicyTypes) != 1 {
		t.Errorf("the policy holds for %s/%v in %v", policy.Namespace, policy.Spec.PodSelector, policy.Spec.PolicyTypes)
	}
	if !computed.Verdict.Sealed || computed.Verdict.Reason != "SealedByNetworkPolicy" || !strings.Contains(computed.Verdict.Message, "gitops-artifacts-source-controller") {
		t.Errorf("the verdict is %+v", computed.Verdict)
	}
}

// TestEachPortOfAPodIsSealed has two programs that serve artifacts in one pod, at both
// ends of the range too.
func TestEachPortOfAPodIsSealed(t *testing.T) {
	for _, ports := range [][2]int32{{9691, 9790}, {9790, 9691}, {1, 65535}, {9090, 9091}} {
		t.Run(fmt.Sprint(ports), func(t *testing.T) {
			in := inPods()
			in.Servers = append(in.Servers, in.Servers[0])
			in.Servers[0].Port, in.Servers[1].Port = ports[0], ports[1]
			policy := onlyPolicy(t, compute(t, in))
			for port := int32(1); port <= 65535; port++ {
				if got, want := admits(t, policy, tenantsPod, corev1.ProtocolTCP, port), port != ports[0] && port != ports[1]; got != want {
					t.Fatalf("port %d is open to a tenant's pod: %t, want %t", port, got, want)
				}
				if port == 65535 {
					break
				}
			}
		})
	}
}

// TestOtherPoliciesAreNotWidened has policies of somebody else for the same pods: they
// close the other ports, and may open the artifacts.
func TestOtherPoliciesAreNotWidened(t *testing.T) {
	tcp := corev1.ProtocolTCP
	port := func(number int32) []networkingv1.NetworkPolicyPort {
		value := intstr.FromInt32(number)
		return []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: &value}}
	}
	byName := intstr.FromString("http")
	end := int32(9999)
	ranged := port(9000)
	ranged[0].EndPort = &end
	everywhere := []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}}
	beside := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}
	block := []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8"}}}
	for name, tc := range map[string]struct {
		rule   networkingv1.NetworkPolicyIngressRule
		sealed bool
	}{
		"metrics from everywhere":          {networkingv1.NetworkPolicyIngressRule{Ports: port(8080), From: everywhere}, true},
		"all ports from its own namespace": {networkingv1.NetworkPolicyIngressRule{From: beside}, true},
		"all ports from everywhere":        {networkingv1.NetworkPolicyIngressRule{}, false},
		"artifacts from everywhere":        {networkingv1.NetworkPolicyIngressRule{Ports: port(9090), From: everywhere}, false},
		"artifacts from addresses":         {networkingv1.NetworkPolicyIngressRule{Ports: port(9090), From: block}, false},
		"a range from everywhere":          {networkingv1.NetworkPolicyIngressRule{Ports: ranged}, false},
		"a port by name from everywhere":   {networkingv1.NetworkPolicyIngressRule{Ports: []networkingv1.NetworkPolicyPort{{Port: &byName}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := inPods()
			in.Policies = []networkingv1.NetworkPolicy{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-fluxcd", Name: "acme"},
				Spec:       networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{tc.rule}},
			}}
			computed := compute(t, in)
			if computed.Verdict.Sealed != tc.sealed {
				t.Errorf("the verdict is %+v", computed.Verdict)
			}
			if !tc.sealed && (computed.Verdict.Reason != "OpenedByAnotherPolicy" || !strings.Contains(computed.Verdict.Message, "NetworkPolicy cozy-fluxcd/acme lets others to port 9090")) {
				t.Errorf("the verdict does not name the policy: %+v", computed.Verdict)
			}
			policy := onlyPolicy(t, computed)
			if admits(t, policy, tenantsPod, corev1.ProtocolTCP, 8080) || !admits(t, policy, tenantController, corev1.ProtocolTCP, 9090) {
				t.Errorf("the policy opens what another closes, or does not open the artifacts: %+v", policy.Spec.Ingress)
			}
		})
	}
	t.Run("of other pods, and of what goes out", func(t *testing.T) {
		in := inPods()
		in.Policies = []networkingv1.NetworkPolicy{
			{Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}},
			{Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}}},
		}
		if !admits(t, onlyPolicy(t, compute(t, in)), tenantsPod, corev1.ProtocolTCP, 8080) {
			t.Error("a policy that does not hold for what comes into these pods closes their other ports")
		}
	})
	t.Run("its own", func(t *testing.T) {
		in := inPods()
		in.Policies = []networkingv1.NetworkPolicy{*onlyPolicy(t, compute(t, in))}
		in.Policies = append(in.Policies, *in.Policies[0].DeepCopy())
		in.Policies[1].Labels = nil
		if !admits(t, onlyPolicy(t, compute(t, in)), tenantsPod, corev1.ProtocolTCP, 8080) {
			t.Error("the operator takes its own policy for somebody else's")
		}
	})
}

// TestNothingIsClaimedThatDoesNotHold has clusters in which nothing is sealed.
func TestNothingIsClaimedThatDoesNotHold(t *testing.T) {
	onHost := inPods()
	onHost.Servers[0].HostNetwork, onHost.Servers[0].Port = true, 9790
	unused := inPods()
	unused.Tenants = 0
	lost := inPods()
	lost.Servers, lost.Mend = nil, errors.New("no Deployment runs source-controller: install Flux")
	for name, tc := range map[string]struct {
		in      seal.Snapshot
		reason  string
		message string
		keep    bool
	}{
		"Flux on the host network": {onHost, "FluxOnHostNetwork", "port 9790 of every node that runs source-controller is open to every pod", false},
		"nobody uses GitOps":       {unused, "NoTenantGitOps", "nothing is sealed", false},
		"Flux is not found":        {lost, "PlatformNotReady", "install Flux", true},
	} {
		t.Run(name, func(t *testing.T) {
			computed := compute(t, tc.in)
			if computed.Verdict.Sealed || computed.Verdict.Status() != metav1.ConditionFalse || computed.Verdict.Reason != tc.reason || !strings.Contains(computed.Verdict.Message, tc.message) {
				t.Errorf("the verdict is %+v", computed.Verdict)
			}
			if len(computed.Objects) != 0 || computed.Keep != tc.keep {
				t.Errorf("objects %v, keep %t", computed.Objects, computed.Keep)
			}
		})
	}
}

// TestOneOfTwoServersOnTheHostNetwork seals what can be sealed, and says what cannot.
func TestOneOfTwoServersOnTheHostNetwork(t *testing.T) {
	in := inPods()
	in.Servers = append(in.Servers, platform.ArtifactServer{Program: "source-watcher", Deployment: "source-watcher", Port: 9691, HostNetwork: true})
	computed := compute(t, in)
	if policy := onlyPolicy(t, computed); policy.Name != "gitops-artifacts-source-controller" {
		t.Errorf("the policy is %s", policy.Name)
	}
	message := computed.Verdict.Message
	if computed.Verdict.Sealed || !strings.Contains(message, "runs source-watcher is open") || !strings.Contains(message, "port 9090 of the pods of Deployment cozy-fluxcd/source-controller is open to pods of namespace cozy-fluxcd and to the tenants' controllers") {
		t.Errorf("the verdict is %+v", computed.Verdict)
	}
}
