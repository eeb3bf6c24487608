package isolation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// stampAccounts puts up the accounts and Roles that the operator makes for a TenantGitOps
// in a namespace, which is what the policies know it by; no operator runs beside.
func stampAccounts(t *testing.T, namespace string, targets ...string) {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	tenant.Namespace, tenant.Name = namespace, gitopsv1.TenantGitOpsName
	stack, err := stamp.Tenant(stamp.Input{
		Tenant: tenant, Config: harness.Config().Stamp, Kinds: []string{"postgreses"}, Targets: targets,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.Apply(t.Context(), cluster.Client, stack.Accounts...); err != nil {
		t.Fatal(err)
	}
}

// goods are a good object of each kind that needs a TenantGitOps beside it.
func goods(namespace string) []*unstructured.Unstructured {
	return []*object{attempts.Kustomization(namespace), attempts.GitRepository(namespace), attempts.OCIRepository(namespace)}
}

// needsTenantGitOps says whether a write was refused with the way to a TenantGitOps.
func needsTenantGitOps(namespace string, err error) bool {
	return refused(err) && strings.Contains(err.Error(), "create the TenantGitOps gitops in "+namespace+" first")
}

// TestNothingWithoutATenantGitOps tries to write before GitOps is switched on, also where
// a tenant above writes into the namespace; and again when it is.
func TestNothingWithoutATenantGitOps(t *testing.T) {
	const above, namespace = "tenant-off", "tenant-off-below"
	person := newUnservedAdmin(t, namespace)
	stampAccounts(t, above, namespace)
	harness.Await(t, "the tenant above to be served", func(ctx context.Context) (bool, string) {
		err := user(t, "abel", above+"-admin").Create(ctx, attempts.GitRepository(above), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
	for _, good := range goods(namespace) {
		t.Run(good.GetKind(), func(t *testing.T) {
			for _, way := range []string{"create", "apply"} {
				unchanged := func(*unstructured.Unstructured) {}
				if err := write(t.Context(), way, person, good, unchanged); !needsTenantGitOps(namespace, err) {
					t.Errorf("%s without a TenantGitOps: %v", way, err)
				}
			}
			if err := cluster.Client.Create(t.Context(), good.DeepCopy(), client.DryRunAll); err != nil {
				t.Errorf("an admin of the platform: %v", err)
			}
		})
	}
	stampAccounts(t, namespace)
	for _, good := range goods(namespace) {
		harness.Await(t, "a "+good.GetKind()+" to pass with a TenantGitOps", func(ctx context.Context) (bool, string) {
			err := person.Create(ctx, good.DeepCopy(), client.DryRunAll)
			return err == nil, fmt.Sprint(err)
		})
	}
}

// TestWhatWasThereBeforeAnyTenantGitOps goes on, changes in nothing by which it runs, and goes.
func TestWhatWasThereBeforeAnyTenantGitOps(t *testing.T) {
	const namespace = "tenant-early"
	person := newUnservedAdmin(t, namespace)
	for _, good := range goods(namespace) {
		t.Run(good.GetKind(), func(t *testing.T) {
			if err := cluster.Client.Create(t.Context(), good.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			annotated := func(o *object) { o.SetAnnotations(map[string]string{"reconcile.fluxcd.io/requestedAt": "now"}) }
			longer := attempts.Field("spec.interval", "11m")
			for _, way := range []string{"update", "patch"} {
				for what, change := range map[string]attempts.Change{"an annotation": annotated, "Flux's finalizer": attempts.WithFinalizer("finalizers.fluxcd.io")} {
					if err := write(t.Context(), way, person, good, change); err != nil {
						t.Errorf("%s, %s: %v", what, way, err)
					}
				}
				if err := write(t.Context(), way, person, good, longer); !needsTenantGitOps(namespace, err) {
					t.Errorf("a change of the spec, %s: %v", way, err)
				}
			}
			if err := person.Delete(t.Context(), good.DeepCopy()); err != nil {
				t.Errorf("it cannot be deleted: %v", err)
			}
		})
	}
}
