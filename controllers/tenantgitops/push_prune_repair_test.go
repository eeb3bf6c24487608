package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestFilesInGitAreTheApplications adds, changes and removes files, and deletes
// an application by hand.
func TestFilesInGitAreTheApplications(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-push")
	repository, first := harness.NewRepository(t, git, "acme/apps", map[string]string{
		"db.yaml":    fixtures.Postgres("db", "1Gi"),
		"cache.yaml": fixtures.Redis("cache", 1),
	})
	harness.Write(t, cluster.Client, tenant, harness.HTTPS(t, cluster.Client, git, tenant, "apps", repository))

	status := harness.AwaitApplied(t, cluster.Client, tenant, first).Status
	if status.Applications != 2 || status.Sources[0].Applications != 2 {
		t.Errorf("the status counts %d and %d applications, want 2", status.Applications, status.Sources[0].Applications)
	}
	if status.Sources[0].LastAppliedAt == nil || status.Sources[0].ArtifactSize == 0 {
		t.Errorf("the status lacks a time or a size: %+v", status.Sources[0])
	}

	second := harness.Commit(t, repository, map[string]string{
		"db.yaml":    fixtures.Postgres("db", "2Gi"),
		"queue.yaml": fixtures.Redis("queue", 1),
	}, "cache.yaml")
	harness.Request(t, cluster.Client, tenant)
	harness.AwaitApplied(t, cluster.Client, tenant, second)
	for _, app := range []*unstructured.Unstructured{fixtures.Application("Postgres", tenant, "db"), fixtures.Application("Redis", tenant, "queue")} {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), app); err != nil {
			t.Fatal(err)
		}
	}
	db := fixtures.Application("Postgres", tenant, "db")
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(db), db); err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedString(db.Object, "spec", "size"); size != "2Gi" {
		t.Errorf("the changed application has size %q", size)
	}
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", tenant, "cache"))

	if err := cluster.Client.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	harness.Request(t, cluster.Client, tenant)
	harness.Await(t, "the deleted application", func(ctx context.Context) (bool, string) {
		again := fixtures.Application("Postgres", tenant, "db")
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(again), again)
		return err == nil && again.GetUID() != db.GetUID(), fmt.Sprint(err)
	})
}
