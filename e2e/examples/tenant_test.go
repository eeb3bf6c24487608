package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/examples"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestTenantExampleIsApplied pushes the tenant's example and types what its README says: each
// application is there, in its namespace, with the values of its overlay, and then with the
// password.
func TestTenantExampleIsApplied(t *testing.T) {
	harness.NewTenant(t, cluster.Client, examples.StagingNamespace)
	harness.NewTenant(t, cluster.Client, examples.TenantNamespace)
	if output, err := cluster.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", filepath.Join(examples.TenantDir(root), tenantFile)); err != nil {
		t.Errorf("the TenantGitOps as it stands in the example: %v: %s", err, output)
	}
	server := harness.NewGitServer(t)
	pushed := examples.PushTenant(t, server, root)
	if err := cluster.Client.Create(t.Context(), pushed.Authority); err != nil {
		t.Fatal(err)
	}
	dir := examples.Copy(t, examples.TenantDir(root))
	tools := map[string]string{"sops": examples.Program(t, "sops"), "kubectl": examples.Program(t, "kubectl")}
	writeTenant(t, dir, pushed)
	examples.Run(t, dir, "applied", tools, "KUBECONFIG="+cluster.Kubeconfig)
	status := harness.AwaitApplied(t, cluster.Client, examples.TenantNamespace, pushed.Commit).Status
	if status.Applications != int64(len(pushed.Wanted)) {
		t.Errorf("%d applications are applied, want %d", status.Applications, len(pushed.Wanted))
	}
	wantThere(t, pushed.Wanted)
	wantNotInStaging(t)

	examples.Run(t, dir, "password", tools, "KUBECONFIG="+cluster.Kubeconfig)
	files := examples.Files(t, dir)
	if strings.Contains(files["base/orders-password.yaml"], password) {
		t.Fatal("the password is not encrypted")
	}
	delete(files, tenantFile)
	commit := harness.Commit(t, pushed.Repository, files)
	harness.Request(t, cluster.Client, examples.TenantNamespace)
	harness.AwaitApplied(t, cluster.Client, examples.TenantNamespace, commit)
	wantThere(t, pushed.Wanted)
	for _, wanted := range pushed.Wanted {
		if wanted.Kind != "Postgres" {
			continue
		}
		stored, _, err := unstructured.NestedString(get(t, wanted).Object, "spec", "users", "orders", "password")
		if err != nil || stored != password {
			t.Errorf("%s has the password %q: %v", wanted, stored, err)
		}
	}
}

const (
	tenantFile = "tenantgitops.yaml"
	// password is the one of the README.
	password = "correct-horse"
)

// writeTenant has the TenantGitOps of a copy lead to the git server.
func writeTenant(t *testing.T, dir string, pushed *examples.Tenant) {
	t.Helper()
	content, err := yaml.Marshal(pushed.TenantGitOps)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, tenantFile), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantThere says that objects are in the cluster, as they are wanted.
func wantThere(t *testing.T, all []examples.Wanted) {
	t.Helper()
	for _, wanted := range all {
		for _, difference := range wanted.Differences(get(t, wanted)) {
			t.Error(difference)
		}
	}
}

func get(t *testing.T, wanted examples.Wanted) *unstructured.Unstructured {
	t.Helper()
	object := wanted.Object()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// wantNotInStaging says that what only production's overlay has is not in the other namespace.
func wantNotInStaging(t *testing.T) {
	t.Helper()
	for _, wanted := range examples.TenantWanted(examples.Production) {
		if wanted.Kind != "Bucket" {
			continue
		}
		object := wanted.Object()
		object.SetNamespace(examples.StagingNamespace)
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%s is in %s too: %v", wanted, examples.StagingNamespace, err)
		}
	}
}
