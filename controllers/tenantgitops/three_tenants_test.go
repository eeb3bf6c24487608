package tenantgitops_test

import (
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestEachTenantHasItsOwnController enables three tenants, one below another and
// one with the longest name, and looks who has reconciled what.
func TestEachTenantHasItsOwnController(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	longest := "tenant-" + strings.Repeat("l", 56)
	tenants := []string{"tenant-three", "tenant-three-child", longest}
	for i, namespace := range tenants {
		tenant := harness.NewTenant(t, cluster.Client, namespace)
		app := fmt.Sprintf("db%d", i)
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres(app, "1Gi")})
		harness.Write(t, cluster.Client, tenant, harness.HTTPS(t, cluster.Client, git, tenant, "apps", repository))
		status := harness.AwaitApplied(t, cluster.Client, tenant, commit).Status
		if status.Shard != namespace {
			t.Errorf("the shard of %s is %q", namespace, status.Shard)
		}
		if status.Controller == nil || !status.Controller.Ready {
			t.Fatalf("the controller of %s: %+v", namespace, status.Controller)
		}
	}

	var deployments appsv1.DeploymentList
	if err := cluster.Client.List(t.Context(), &deployments, client.InNamespace("cozy-gitops-tenants"), client.HasLabels{stamp.TenantLabel}); err != nil {
		t.Fatal(err)
	}
	controllers := map[string]string{}
	for _, deployment := range deployments.Items {
		controllers[deployment.Labels[stamp.TenantLabel]] = deployment.Name
	}
	for _, namespace := range tenants {
		if controllers[namespace] == "" {
			t.Errorf("%s has no controller of its own; there are %v", namespace, controllers)
		}
	}
	for i, namespace := range tenants {
		// Its own application is there, and nobody else's.
		for j := range tenants {
			app := fixtures.Application("Postgres", namespace, fmt.Sprintf("db%d", j))
			err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app)
			if i == j && err != nil || i != j && client.IgnoreNotFound(err) != nil || i != j && err == nil {
				t.Errorf("application db%d in %s: %v", j, namespace, err)
			}
		}
		// Each Kustomization has been written to by one controller's account: that
		// of its tenant.
		kustomization := &kustomizev1.Kustomization{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "gitops-apps"}, kustomization); err != nil {
			t.Fatal(err)
		}
		writes, err := cluster.Writes(kustomization.CreationTimestamp.Time, func(w embedded.Write) bool {
			return w.Namespace == namespace && w.Resource == "kustomizations" && strings.HasPrefix(w.User, "system:serviceaccount:cozy-gitops-tenants:")
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(writes) == 0 {
			t.Errorf("no controller wrote to the Kustomization of %s", namespace)
		}
		for _, write := range writes {
			if write.User != "system:serviceaccount:cozy-gitops-tenants:"+controllers[namespace] {
				t.Errorf("somebody else's controller wrote: %s", write)
			}
		}
		if name := controllers[namespace]; len(name) > 63 {
			t.Errorf("the controller's name %s has %d characters", name, len(name))
		}
	}
	// Leader election is off, so there is no lease to be granted or to collide.
	var leases coordinationv1.LeaseList
	if err := cluster.Client.List(t.Context(), &leases, client.InNamespace("cozy-gitops-tenants")); err != nil {
		t.Fatal(err)
	}
	if len(leases.Items) != 0 {
		t.Errorf("there are %d leases although leader election is off", len(leases.Items))
	}
}
