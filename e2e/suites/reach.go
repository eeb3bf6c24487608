package suites

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/internal/names"
)

// NewProbe starts a probe for the length of a test.
func (s *Stage) NewProbe(t *testing.T, namespace, name string, labels map[string]string) *kind.Probe {
	t.Helper()
	probe, err := s.Cluster.StartProbe(t.Context(), namespace, name, labels)
	if err != nil {
		t.Fatal(err)
	}
	return probe
}

// ControllerLabels are those by which policies select a tenant's controller: its own, and
// the one that seals the artifacts.
func ControllerLabels(namespace string) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "kustomize-controller", "app.kubernetes.io/instance": names.Controller(namespace)}
}

// Address joins a host and a port.
func Address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// AwaitReach waits until a probe can, or cannot, open connections to addresses, which
// are listed with what they are: a policy takes a moment to hold.
func AwaitReach(t *testing.T, from *kind.Probe, allowed bool, addresses map[string]string) {
	t.Helper()
	for what, address := range addresses {
		harness.Await(t, fmt.Sprintf("%s/%s to reach %s at %s: %t", from.Namespace, from.Name, what, address, allowed), func(ctx context.Context) (bool, string) {
			err := from.Dial(ctx, address)
			if err == nil {
				return allowed, "it does"
			}
			// The probe itself has tried: that it cannot be asked proves nothing.
			return !allowed && strings.Contains(err.Error(), "dial tcp"), err.Error()
		})
	}
}
