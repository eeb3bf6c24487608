//go:build kind

package hostnetwork_test

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestControllerReachesOnePortOfTheNodes opens connections from a pod that the policy of
// a tenant's controller selects, and from one beside it that no policy holds. Flux
// listens on the node: no pod selector matches it, so that the policy names the nodes'
// addresses, and there the artifact port only.
func TestControllerReachesOnePortOfTheNodes(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-reach"
	_, commit := stage.Enable(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	confined := stage.NewProbe(t, suites.ControllersNamespace, "confined", suites.ControllerLabels(tenant))
	free := stage.NewProbe(t, suites.ControllersNamespace, "free", nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)

	node := stage.Cluster.NodeAddress
	needed := map[string]string{
		"the API server's endpoint": suites.Address(node, 6443),
		"the API server's Service":  "kubernetes.default.svc.cluster.local:443",
		"the artifacts":             suites.Address(node, 9790),
		"the artifacts' Service":    "flux.cozy-fluxcd.svc.cluster.local:80",
	}
	forbidden := map[string]string{
		"source-controller's metrics":    suites.Address(node, 9791),
		"source-controller's probes":     suites.Address(node, 9792),
		"kustomize-controller's metrics": suites.Address(node, 9793),
		"the kubelet":                    suites.Address(node, 10250),
		"a pod of its own namespace":     free.Address,
	}
	suites.AwaitReach(t, free, true, needed)
	suites.AwaitReach(t, free, true, forbidden)
	suites.AwaitReach(t, confined, true, needed)
	suites.AwaitReach(t, confined, false, forbidden)
}
