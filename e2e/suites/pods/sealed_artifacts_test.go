//go:build kind

package pods_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestArtifactsAreSealed has a tenant's pods ask for the artifacts of another tenant,
// which source-controller would hand to anybody, and looks that whoever needs artifacts
// gets them, and that source-controller's other ports are as open as before.
func TestArtifactsAreSealed(t *testing.T) {
	t.Parallel()
	const victim, thief = "tenant-sealed", "tenant-sealedb"
	repository, commit := stage.Enable(t, victim, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	stage.NewTenant(t, thief)
	if err := stage.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "acme-sealed"}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	plain := stage.NewProbe(t, thief, "plain", nil)
	pretender := stage.NewProbe(t, thief, "pretender", suites.ControllerLabels(thief))
	toAPI := stage.NewProbe(t, thief, "to-api", map[string]string{"policy.cozystack.io/allow-to-apiserver": "true"})
	stranger := stage.NewProbe(t, "acme-sealed", "stranger", nil)
	beside := stage.NewProbe(t, suites.ControllersNamespace, "beside-controllers", nil)
	controller := stage.NewProbe(t, suites.ControllersNamespace, "like-a-controller", suites.ControllerLabels(victim))
	flux := stage.NewProbe(t, "cozy-fluxcd", "beside-flux", nil)

	// The tenant's own controller, the real one, fetches ...
	harness.AwaitApplied(t, stage.Client, victim, commit)

	const host = "source-controller.cozy-fluxcd.svc.cluster.local"
	source := sourceControllerAddress(t)
	artifacts := map[string]string{
		"the artifacts of source-controller's pod": suites.Address(source, 9090),
		"the artifacts' Service":                   suites.Address(host, 80),
	}
	others := map[string]string{
		"source-controller's metrics": suites.Address(source, metricsPort),
		"source-controller's probes":  suites.Address(source, healthPort),
	}
	suites.AwaitReach(t, controller, true, artifacts)
	suites.AwaitReach(t, flux, true, artifacts)
	for _, probe := range []*kind.Probe{plain, pretender, toAPI, stranger, beside} {
		suites.AwaitReach(t, probe, false, artifacts)
		// It is the port that is closed, and neither the pod nor the name.
		suites.AwaitReach(t, probe, true, others)
		if _, err := probe.Resolve(t.Context(), host); err != nil {
			t.Error(err)
		}
	}

	// ... and fetches again, through the seal.
	commit = harness.Commit(t, repository, map[string]string{"cache.yaml": fixtures.Redis("cache", 1)})
	harness.Request(t, stage.Client, victim)
	harness.AwaitApplied(t, stage.Client, victim, commit)
	if status := harness.Read(t, stage.Client, victim).Status; status.Applications != 2 {
		t.Errorf("%d applications are applied, want 2", status.Applications)
	}
}
