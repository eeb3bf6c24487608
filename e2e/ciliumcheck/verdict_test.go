package ciliumcheck_test

import (
	"testing"

	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	ciliumv2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/api"
	"github.com/cilium/cilium/pkg/policy/types"
	policyutils "github.com/cilium/cilium/pkg/policy/utils"
	testidentity "github.com/cilium/cilium/pkg/testutils/identity"
	testpolicy "github.com/cilium/cilium/pkg/testutils/policy"
	"github.com/cilium/cilium/pkg/u8proto"
	"github.com/cilium/hive/hivetest"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cozystack/gitops-operator/internal/seal"
)

const (
	artifactPort = 9790
	watcherPort  = 9691
	clusterName  = "default"
)

// pod is the identity of a pod of a namespace, with labels "key=value".
func pod(id identity.NumericIdentity, namespace string, more ...labels.Label) *identity.Identity {
	list := labels.LabelArray{
		labels.NewLabel("io.kubernetes.pod.namespace", namespace, labels.LabelSourceK8s),
		labels.NewLabel("io.cilium.k8s.policy.cluster", clusterName, labels.LabelSourceK8s),
		labels.NewLabel("io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name", namespace, labels.LabelSourceK8s),
	}
	return identity.NewIdentityFromLabelArray(id, append(list, more...).Sort())
}

func k8sLabel(key, value string) labels.Label {
	return labels.NewLabel(key, value, labels.LabelSourceK8s)
}

var (
	tenantPod = pod(1001, "tenant-acme", k8sLabel("app", "acme"))
	// A stock Cozystack lets it reach the API server's nodes on every port.
	apiServerPod = pod(1002, "tenant-acme", k8sLabel("policy.cozystack.io/allow-to-apiserver", "true"))
	controller   = pod(1003, "cozy-gitops-tenants", k8sLabel("gitops.cozystack.io/tenant", "tenant-acme"))
	shard        = pod(1004, "cozy-fluxcd", k8sLabel("sharding.fluxcd.io/role", "shard"))
	systemPod    = pod(1005, "kube-system", k8sLabel("k8s-app", "kube-dns"))

	host       = identity.LookupReservedIdentity(identity.ReservedIdentityHost)
	remoteNode = identity.LookupReservedIdentity(identity.ReservedIdentityRemoteNode)
	apiServer  = identity.LookupReservedIdentity(identity.ReservedIdentityKubeAPIServer)
	world      = identity.LookupReservedIdentity(identity.ReservedIdentityWorld)
	worldIPv6  = identity.LookupReservedIdentity(identity.ReservedIdentityWorldIPv6)
	ingress    = identity.LookupReservedIdentity(identity.ReservedIdentityIngress)
)

// parsed are the policies of the operator, as Cilium reads and sanitizes them.
func parsed(t *testing.T) map[string]api.Rules {
	t.Helper()
	policies, err := seal.CiliumPolicies("cozy-fluxcd", "cozy-gitops-tenants", []int32{watcherPort, artifactPort})
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]api.Rules{}
	for _, obj := range policies {
		decoded := &ciliumv2.CiliumClusterwideNetworkPolicy{}
		// With strict validation: a field that Cilium does not have is an error.
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, decoded, true); err != nil {
			t.Fatalf("%s: %v", obj.GetName(), err)
		}
		list, err := decoded.Parse(hivetest.Logger(t), clusterName)
		if err != nil {
			t.Fatalf("cilium refuses %s: %v", obj.GetName(), err)
		}
		rules[obj.GetName()] = list
	}
	return rules
}

// engine is Cilium's own, with these rules. It knows every identity of the tests.
type engine struct {
	repository *policy.Repository
	identities identitymanager.IDManager
}

func newEngine(t *testing.T, lists ...api.Rules) engine {
	t.Helper()
	// As on a stock Cozystack; without it no policy holds for a node.
	setHostFirewall(t, true)
	api.InitEntities(clusterName)
	known := identity.IdentityMap{}
	identity.IterateReservedIdentities(func(id identity.NumericIdentity, reserved *identity.Identity) {
		known[id] = reserved.LabelArray
	})
	for _, id := range []*identity.Identity{tenantPod, apiServerPod, controller, shard, systemPod} {
		known[id.ID] = id.LabelArray
	}
	logger := hivetest.Logger(t)
	manager := identitymanager.NewIDManager(logger)
	repository := policy.NewPolicyRepository(logger, known, nil, nil, manager, testpolicy.NewPolicyMetricsNoop())
	repository.GetSelectorCache().SetLocalIdentityNotifier(testidentity.NewDummyIdentityNotifier())
	repository.UpdateIdentities(known, nil)
	manager.Subscribe(testpolicy.SelectorCacheObserver{Cache: repository.GetSubjectSelectorCache()})
	for _, rules := range lists {
		repository.MustAddPolicyEntries(policyutils.RulesToPolicyEntries(rules))
	}
	return engine{repository, manager}
}

func setHostFirewall(t *testing.T, on bool) {
	t.Helper()
	before := option.Config.EnableHostFirewall
	option.Config.EnableHostFirewall = on
	t.Cleanup(func() { option.Config.EnableHostFirewall = before })
}

// lookUp says whether the sender's end and the receiver's end let a connection pass.
func (e engine) lookUp(t *testing.T, from, to *identity.Identity, port uint16) (sent, received bool) {
	t.Helper()
	verdict, _, _, err := policy.LookupFlow(hivetest.Logger(t), e.repository, e.identities, types.Flow{From: from, To: to, Proto: u8proto.TCP, Dport: port})
	if err != nil {
		t.Fatalf("%v to %v: %v", from, to, err)
	}
	return verdict.Egress == types.DecisionAllowed, verdict.Ingress == types.DecisionAllowed
}

type flow struct {
	name string
	from *identity.Identity
	// sends and receives say whether each end lets it pass, on an artifact port.
	sends, receives bool
}

// flows to the node that Flux runs on, as that node sees it.
var flows = []flow{
	{"a tenant's pod", tenantPod, false, false},
	{"a tenant's pod that may reach the API server", apiServerPod, false, false},
	{"a pod of the platform's", systemPod, false, false},
	{"the world", world, true, false},
	{"the world by IPv6", worldIPv6, true, false},
	{"Cilium's ingress", ingress, true, false},
	{"Flux itself", host, true, true},
	{"a shard of Flux's, in a pod", shard, true, true},
	{"a tenant's controller", controller, true, true},
	{"another node", remoteNode, true, true},
	{"the API server's node", apiServer, true, true},
}

// TestVerdicts asks Cilium's policy engine who reaches the artifact ports of a node.
func TestVerdicts(t *testing.T) {
	rules := parsed(t)
	e := newEngine(t, rules[seal.NodesPolicy], rules[seal.PodsPolicy])
	for _, f := range flows {
		for _, port := range []uint16{artifactPort, watcherPort} {
			sends, receives := e.lookUp(t, f.from, host, port)
			if sends != f.sends || receives != f.receives {
				t.Errorf("%s to port %d: sent %t, received %t; want %t, %t", f.name, port, sends, receives, f.sends, f.receives)
			}
		}
	}
}

// TestWithoutTheHostFirewall shows what is promised without it: pods are kept away where
// their connections begin, the world is not.
func TestWithoutTheHostFirewall(t *testing.T) {
	rules := parsed(t)
	e := newEngine(t, rules[seal.NodesPolicy], rules[seal.PodsPolicy])
	setHostFirewall(t, false)
	for _, f := range flows {
		if sends, receives := e.lookUp(t, f.from, host, artifactPort); sends != f.sends || !receives {
			t.Errorf("%s: sent %t, received %t; want %t, true", f.name, sends, receives, f.sends)
		}
	}
}

// TestPodsPolicyHoldsTowardsEveryNode asks for the other kinds of node that a pod may
// name: another one, and the API server's.
func TestPodsPolicyHoldsTowardsEveryNode(t *testing.T) {
	e := newEngine(t, parsed(t)[seal.PodsPolicy])
	for _, to := range []*identity.Identity{host, remoteNode, apiServer} {
		for _, f := range flows {
			if sends, _ := e.lookUp(t, f.from, to, artifactPort); sends != f.sends {
				t.Errorf("%s to %v: sent %t, want %t", f.name, to.LabelArray, sends, f.sends)
			}
		}
	}
	// The port of a pod is not the nodes'.
	if sends, _ := e.lookUp(t, tenantPod, systemPod, artifactPort); !sends {
		t.Error("a tenant's pod may not open port 9790 of another pod any more")
	}
}

// TestNothingElseIsDenied asks for ports beside the artifacts': a policy that denies
// puts a node into default deny, unless it says otherwise.
func TestNothingElseIsDenied(t *testing.T) {
	rules := parsed(t)
	e := newEngine(t, rules[seal.NodesPolicy], rules[seal.PodsPolicy])
	for _, f := range flows {
		for _, port := range []uint16{22, 443, 6443, 9791, 9690, 10250} {
			if sends, receives := e.lookUp(t, f.from, host, port); !sends || !receives {
				t.Errorf("%s to port %d: sent %t, received %t", f.name, port, sends, receives)
			}
			if sends, receives := e.lookUp(t, f.from, systemPod, port); !sends || !receives {
				t.Errorf("%s to port %d of a pod: sent %t, received %t", f.name, port, sends, receives)
			}
		}
	}
}

// TestDenyWinsOverThePlatformsPolicies adds what a stock Cozystack has: a node that
// takes in everything, and pods that reach the API server on every port.
func TestDenyWinsOverThePlatformsPolicies(t *testing.T) {
	nodes := api.NewRule().WithIngressRules([]api.IngressRule{{
		IngressCommonRule: api.IngressCommonRule{FromEntities: api.EntitySlice{api.EntityWorld, api.EntityHost, api.EntityRemoteNode, api.EntityCluster}},
	}})
	nodes.NodeSelector = api.WildcardEndpointSelector
	pods := api.NewRule().WithEndpointSelector(api.NewESFromMatchRequirements(map[string]string{
		"k8s.policy.cozystack.io/allow-to-apiserver": "true",
	}, nil)).WithEgressRules([]api.EgressRule{{
		EgressCommonRule: api.EgressCommonRule{ToEntities: api.EntitySlice{api.EntityKubeAPIServer, api.EntityHost}},
	}})
	platform := api.Rules{nodes, pods}
	for _, rule := range platform {
		if err := rule.Sanitize(); err != nil {
			t.Fatal(err)
		}
	}
	before := newEngine(t, platform)
	if sends, receives := before.lookUp(t, apiServerPod, host, artifactPort); !sends || !receives {
		t.Fatalf("the platform's policies alone: sent %t, received %t; then this test shows nothing", sends, receives)
	}
	rules := parsed(t)
	for _, name := range []string{seal.NodesPolicy, seal.PodsPolicy} {
		// Each alone: they are two layers.
		after := newEngine(t, platform, rules[name])
		if sends, receives := after.lookUp(t, apiServerPod, host, artifactPort); sends && receives {
			t.Errorf("%s alone does not keep the pod away", name)
		}
		if sends, receives := after.lookUp(t, apiServerPod, host, 6443); !sends || !receives {
			t.Errorf("%s keeps the pod from the API server", name)
		}
	}
}
