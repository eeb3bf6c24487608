package tenantgitops_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// TestReinstalledCRDDeletesNothingOfATenants deletes the custom resource
// definition, and with it every TenantGitOps, also one whose source asks for its
// applications to be deleted with it; then installs it again.
func TestReinstalledCRDDeletesNothingOfATenants(t *testing.T) {
	first := harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	repository, commit := applied(t, git, "tenant-reinstall", func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	db := fixtures.Application("Postgres", "tenant-reinstall", "db")
	if !exists(t, db) {
		t.Fatal("the application is not there")
	}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "tenantgitops.gitops.cozystack.io"}}
	if err := cluster.Client.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, crd)
	if left := harness.Leftovers(t, cluster.Client, "tenant-reinstall"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// It may well be killed now: its kind is gone.
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	if err := manifests.ApplyPaths(t.Context(), cluster.Client, root+"/config/crd/bases"); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	source := harness.HTTPS(t, cluster.Client, git, "tenant-reinstall", "apps", repository)
	harness.Write(t, cluster.Client, "tenant-reinstall", source)
	harness.AwaitApplied(t, cluster.Client, "tenant-reinstall", commit)
	again := fixtures.Application("Postgres", "tenant-reinstall", "db")
	if !exists(t, again) || again.GetUID() != db.GetUID() {
		t.Error("the application has been deleted")
	}
}
