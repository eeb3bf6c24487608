package isolation_test

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// newTenantAdmin makes a tenant with GitOps switched on, and returns the client of a person
// in the group of its admins, when the policies hold that person.
func newTenantAdmin(t *testing.T, namespace string) client.Client {
	t.Helper()
	person := newUnservedAdmin(t, namespace)
	stampAccounts(t, namespace)
	harness.Await(t, "the policies to know of the TenantGitOps", func(ctx context.Context) (bool, string) {
		err := person.Create(ctx, attempts.Kustomization(namespace), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
	return person
}

// newUnservedAdmin does the same without a TenantGitOps.
func newUnservedAdmin(t *testing.T, namespace string) client.Client {
	t.Helper()
	harness.NewTenant(t, cluster.Client, namespace)
	if err := manifests.Apply(t.Context(), cluster.Client, attempts.FluxForAdmins()); err != nil {
		t.Fatal(err)
	}
	person := user(t, "alice", namespace+"-admin")
	harness.Await(t, "the policies to hold the tenant's admin", func(ctx context.Context) (bool, string) {
		bad := attempts.Kustomization(namespace)
		bad.SetName("probe")
		bad.SetLabels(nil)
		kustomization := refused(person.Create(ctx, bad, client.DryRunAll))
		source := attempts.GitRepository(namespace)
		source.SetName("probe")
		attempts.Set(source, "https://127.0.0.2/apps", "spec", "url")
		git := refused(person.Create(ctx, source, client.DryRunAll))
		return kustomization && git, fmt.Sprintf("Kustomization refused: %t, GitRepository refused: %t", kustomization, git)
	})
	return person
}

// user is the client of a person in groups.
func user(t *testing.T, name string, groups ...string) client.Client {
	t.Helper()
	config, err := cluster.UserConfig(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return made
}
