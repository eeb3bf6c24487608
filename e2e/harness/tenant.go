package harness

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// NewTenant makes a tenant, with its ancestors, and returns its namespace. When
// the test ends its TenantGitOps is deleted, so that its controller does not run
// for the length of all tests: the operator of the next test takes it down.
func NewTenant(t *testing.T, c client.Client, namespace string) string {
	t.Helper()
	if err := fixtures.CreateTenant(t.Context(), c, namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
		if err := client.IgnoreNotFound(c.Delete(context.Background(), tenant)); err != nil {
			t.Errorf("cannot delete the TenantGitOps of %s: %v", namespace, err)
		}
	})
	return namespace
}

// Write creates the TenantGitOps of a namespace with these sources, or replaces
// the sources of the one that is there.
func Write(t *testing.T, c client.Client, namespace string, sources ...gitopsv1.Source) {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
	err := c.Get(t.Context(), client.ObjectKeyFromObject(tenant), tenant)
	switch {
	case err == nil:
		changed := tenant.DeepCopy()
		changed.Spec.Sources = sources
		err = c.Patch(t.Context(), changed, client.MergeFrom(tenant))
	case client.IgnoreNotFound(err) == nil:
		tenant.Spec.Sources = sources
		err = c.Create(t.Context(), tenant)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Read returns the TenantGitOps of a namespace.
func Read(t *testing.T, c client.Client, namespace string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
		t.Fatal(err)
	}
	return tenant
}
