// Package seal computes what keeps the artifacts of Flux from whoever is neither
// Flux nor a tenant's controller. Flux serves them over plain HTTP and asks nobody who
// they are. It is a pure function: a snapshot comes in, objects and a verdict come out.
package seal

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/platform"
)

const (
	// Label marks, with the value LabelValue, the policies that seal.
	Label = "gitops.cozystack.io/seal"
	// LabelValue of Label.
	LabelValue = "artifacts"
)

// Snapshot is what the seal depends on.
type Snapshot struct {
	// Tenants is how many TenantGitOps there are.
	Tenants int
	// FluxNamespace is where Flux runs, ControllersNamespace where the tenants'
	// controllers do.
	FluxNamespace        string
	ControllersNamespace string
	// Servers serve artifacts; Mend says why they were not found, and what to do.
	Servers []platform.ArtifactServer
	Mend    error
	// Policies are all those of Flux's namespace, the operator's own among them.
	Policies []networkingv1.NetworkPolicy
	// CiliumCRD is that of Cilium's clusterwide policies, nil where they are not served.
	CiliumCRD *apiextensionsv1.CustomResourceDefinition
	// Egress is what source-controller must reach.
	Egress Egress
}

// Seal is what has to be there, and what that comes to.
type Seal struct {
	// Objects have to be in the cluster; what else carries Label has not.
	Objects []client.Object
	// Keep says that nothing can be told about what has to be there: what carries
	// Label stays as it is.
	Keep bool
	// Verdict is for an admin.
	Verdict Verdict
}

// Verdict says whether the artifacts are sealed.
type Verdict struct {
	Sealed  bool
	Reason  string
	Message string
}

// Status is the verdict as that of a condition.
func (v Verdict) Status() metav1.ConditionStatus {
	if v.Sealed {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// Compute returns the seal of a cluster.
func Compute(in Snapshot) (Seal, error) {
	switch {
	case in.Tenants == 0:
		return Seal{Verdict: Verdict{
			Reason:  gitopsv1.ReasonNoTenantGitOps,
			Message: "there is no TenantGitOps, so nothing is sealed and nothing of the platform is changed",
		}}, nil
	case in.Mend != nil:
		return Seal{Keep: true, Verdict: Verdict{
			Reason:  gitopsv1.ReasonPlatformNotReady,
			Message: fmt.Sprintf("cannot tell what to seal: %v", in.Mend),
		}}, nil
	}
	var sealed Seal
	var closed, open []string
	for _, pods := range byDeployment(in.Servers) {
		if pods.hostNetwork {
			continue
		}
		others := in.othersPolicies(pods)
		policy, err := in.networkPolicy(pods, len(others) > 0)
		if err != nil {
			return Seal{}, err
		}
		sealed.Objects = append(sealed.Objects, policy)
		closed = append(closed, fmt.Sprintf("port %s of the pods of Deployment %s/%s is open to pods of namespace %s and to the tenants' controllers in %s alone, by NetworkPolicy %s",
			joinPorts(pods.ports), in.FluxNamespace, pods.deployment, in.FluxNamespace, in.ControllersNamespace, policy.Name))
		for _, other := range others {
			for _, port := range pods.ports {
				if admitsOutsiders(other, in.FluxNamespace, port) {
					open = append(open, fmt.Sprintf("NetworkPolicy %s/%s lets others to port %d of Deployment %s as well: take that port out of it", in.FluxNamespace, other.Name, port, pods.deployment))
				}
			}
		}
	}
	reason := gitopsv1.ReasonOpenedByAnotherPolicy
	if onNodes := hostServers(in.Servers); len(onNodes) > 0 {
		nodesClosed, nodesOpen, why, err := in.sealNodes(&sealed, onNodes)
		if err != nil {
			return Seal{}, err
		}
		if nodesOpen != "" {
			open, reason = append(open, nodesOpen), why
		} else {
			closed = append(closed, nodesClosed)
		}
	}
	sealed.Verdict = verdict(sealed.Objects, closed, open, reason)
	return sealed, nil
}

// verdict is that of what is closed, if nothing is open, and else openReason.
func verdict(objects []client.Object, closed, open []string, openReason string) Verdict {
	message := strings.Join(closed, "; ")
	if len(open) > 0 {
		return Verdict{Reason: openReason, Message: join(open, message)}
	}
	reason := gitopsv1.ReasonSealedByNetworkPolicy
	if slices.ContainsFunc(objects, func(obj client.Object) bool { return obj.GetNamespace() == "" }) {
		reason = gitopsv1.ReasonSealedByCilium
	}
	return Verdict{Sealed: true, Reason: reason, Message: message}
}

// join says first what is open, then what is not.
func join(open []string, closed string) string {
	text := strings.Join(open, "; ")
	if closed != "" {
		text += "; " + closed
	}
	return text
}

// podGroup are the pods of a Deployment, with all the ports that artifacts are served on.
type podGroup struct {
	deployment  string
	labels      map[string]string
	allLabels   map[string]string
	ports       []int32
	hostNetwork bool
}

// policyName is the name of the policy that seals these pods.
func (p podGroup) policyName() string { return "gitops-artifacts-" + p.deployment }

// byDeployment groups servers: several may be containers of one pod.
func byDeployment(servers []platform.ArtifactServer) []podGroup {
	var groups []podGroup
	for _, server := range servers {
		at := slices.IndexFunc(groups, func(g podGroup) bool { return g.deployment == server.Deployment })
		if at < 0 {
			groups = append(groups, podGroup{deployment: server.Deployment, labels: server.PodLabels, allLabels: server.TemplateLabels, hostNetwork: server.HostNetwork})
			at = len(groups) - 1
		}
		groups[at].ports = append(groups[at].ports, server.Port)
	}
	for i := range groups {
		slices.Sort(groups[i].ports)
		groups[i].ports = slices.Compact(groups[i].ports)
	}
	return groups
}

func hostServers(servers []platform.ArtifactServer) []platform.ArtifactServer {
	var found []platform.ArtifactServer
	for _, server := range servers {
		if server.HostNetwork {
			found = append(found, server)
		}
	}
	return found
}

func joinPorts(ports []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", " and "), "[]")
}
