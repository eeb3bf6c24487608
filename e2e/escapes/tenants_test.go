package escapes_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// off is a tenant without a TenantGitOps, full one with as many sources as there may
	// be. The admins of the tenant above are theirs too.
	off  = escaping + "-off"
	full = escaping + "-full"
	// held is a source that the operator has suspended.
	held = "held"
)

// tenantWithGitOps makes the tenant whose people write, with the objects that they change.
func tenantWithGitOps(t *testing.T) []client.Client {
	t.Helper()
	for _, tenant := range []string{off, full, escaping} {
		harness.NewTenant(t, cluster.Client, tenant)
	}
	who := people(t, escaping)
	for _, tenant := range []string{escaping, full} {
		harness.Await(t, "the tenant's people to switch GitOps on", func(ctx context.Context) (bool, string) {
			for _, person := range who {
				if err := attempts.Store(ctx, person, attempts.TenantGitOps(tenant)); err != nil {
					return false, err.Error()
				}
			}
			return true, ""
		})
		// The last that the operator makes.
		harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})
	}
	for _, good := range []*unstructured.Unstructured{attempts.Kustomization(escaping), attempts.GitRepository(escaping), attempts.OCIRepository(escaping)} {
		harness.Await(t, "a good "+good.GetKind(), func(ctx context.Context) (bool, string) {
			err := attempts.Store(ctx, who[0], good)
			return err == nil, fmt.Sprint(err)
		})
	}
	for _, object := range []*unstructured.Unstructured{heldSource(attempts.GitRepository(escaping)), heldSource(attempts.OCIRepository(escaping))} {
		if err := attempts.Store(t.Context(), cluster.Client, object); err != nil {
			t.Fatal(err)
		}
	}
	for i := range gitopsv1.DefaultMaxSources {
		source := attempts.GitRepository(full)
		source.SetName(fmt.Sprintf("one-of-many-%d", i))
		if err := cluster.Client.Create(t.Context(), source); err != nil {
			t.Fatal(err)
		}
	}
	return who
}

func heldSource(source *unstructured.Unstructured) *unstructured.Unstructured {
	source.SetName(held)
	attempts.Annotation(attempts.HeldAnnotation, "digest")(source)
	return source
}

// otherTenantsTries are escapes by what is in the namespace already.
func otherTenantsTries() []admissionTry {
	unchanged := func(name string) attempts.Attempt {
		return attempts.Attempt{Name: name, Change: func(*unstructured.Unstructured) {}}
	}
	var tries []admissionTry
	for _, good := range []*unstructured.Unstructured{attempts.Kustomization(off), attempts.GitRepository(off), attempts.OCIRepository(off)} {
		tries = append(tries, admissionTry{good: good, attempt: unchanged(withoutTenantGitOps), created: true})
	}
	for _, good := range []*unstructured.Unstructured{attempts.GitRepository(full), attempts.OCIRepository(full)} {
		tries = append(tries, admissionTry{good: good, attempt: unchanged(oneTooMany), created: true})
	}
	for _, good := range []*unstructured.Unstructured{attempts.GitRepository(escaping), attempts.OCIRepository(escaping)} {
		resumed := attempts.Attempt{Name: "going on with too large an artifact", Change: attempts.Field("spec.suspend", false)}
		tries = append(tries, admissionTry{good: heldSource(good), attempt: resumed, changed: true})
	}
	return tries
}
