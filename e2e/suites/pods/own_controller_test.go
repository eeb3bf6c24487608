//go:build kind

package pods_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestEachTenantIsReconciledByItsOwnController enables three tenants, one below another
// and one with the longest name, and looks who has reconciled what.
func TestEachTenantIsReconciledByItsOwnController(t *testing.T) {
	t.Parallel()
	tenants := []string{"tenant-a", "tenant-a-b", "tenant-" + strings.Repeat("l", 56)}
	commits := map[string]string{}
	for i, namespace := range tenants {
		_, commits[namespace] = stage.Enable(t, namespace, map[string]string{"db.yaml": fixtures.Postgres(fmt.Sprintf("db%d", i), "1Gi")}, nil)
	}
	for i, namespace := range tenants {
		status := harness.AwaitApplied(t, stage.Client, namespace, commits[namespace]).Status
		if status.Shard != namespace || status.Applications != 1 {
			t.Errorf("the status of %s has the shard %q and %d applications", namespace, status.Shard, status.Applications)
		}
		for j := range tenants {
			app := fixtures.Application("Postgres", namespace, fmt.Sprintf("db%d", j))
			err := stage.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app)
			if client.IgnoreNotFound(err) != nil || (err == nil) != (i == j) {
				t.Errorf("application db%d in %s: %v", j, namespace, err)
			}
		}
	}
	for _, namespace := range tenants {
		pod := stage.ControllerPod(t, namespace)
		if seen := reconciledNamespaces(t, suites.ControllersNamespace, pod.Name); !slices.Equal(seen, []string{namespace}) {
			t.Errorf("the controller of %s has reconciled in %v", namespace, seen)
		}
	}
	platform := &corev1.PodList{}
	if err := stage.Client.List(t.Context(), platform, client.InNamespace("cozy-fluxcd"), client.MatchingLabels{"app": "kustomize-controller"}); err != nil || len(platform.Items) != 1 {
		t.Fatalf("the platform's own controller: %d pods, %v", len(platform.Items), err)
	}
	// Another test has it reconcile outside of tenants.
	for _, namespace := range reconciledNamespaces(t, "cozy-fluxcd", platform.Items[0].Name) {
		if strings.HasPrefix(namespace, "tenant-") {
			t.Errorf("the platform's own controller has reconciled in %s", namespace)
		}
	}
	// Leader election of the controllers is off: no lease to be granted or to collide.
	leases := &coordinationv1.LeaseList{}
	if err := stage.Client.List(t.Context(), leases, client.InNamespace(suites.ControllersNamespace)); err != nil || len(leases.Items) != 0 {
		t.Errorf("%d leases in %s, %v", len(leases.Items), suites.ControllersNamespace, err)
	}
}

// reconciledNamespaces are those of the Kustomizations that a controller's log names.
func reconciledNamespaces(t *testing.T, namespace, pod string) []string {
	t.Helper()
	log, err := stage.Clients.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var namespaces []string
	for line := range strings.Lines(string(log)) {
		var entry struct {
			Kustomization struct{ Namespace string }
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Kustomization.Namespace != "" {
			namespaces = append(namespaces, entry.Kustomization.Namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}
