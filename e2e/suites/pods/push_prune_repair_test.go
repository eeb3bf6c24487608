//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestFilesInGitAreTheApplications adds, changes and removes files, and deletes an
// application by hand. The second commit is let show up by itself.
func TestFilesInGitAreTheApplications(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-push"
	repository, first := stage.Enable(t, tenant, map[string]string{
		"db.yaml":    fixtures.Postgres("db", "1Gi"),
		"cache.yaml": fixtures.Redis("cache", 1),
	}, nil)
	if status := harness.AwaitApplied(t, stage.Client, tenant, first).Status; status.Applications != 2 {
		t.Errorf("the status counts %d applications, want 2", status.Applications)
	}

	second := harness.Commit(t, repository, map[string]string{
		"db.yaml":    fixtures.Postgres("db", "2Gi"),
		"queue.yaml": fixtures.Redis("queue", 1),
	}, "cache.yaml")
	harness.AwaitApplied(t, stage.Client, tenant, second)
	db := fixtures.Application("Postgres", tenant, "db")
	harness.AwaitExists(t, stage.Client, db)
	if size, _, err := unstructured.NestedString(db.Object, "spec", "size"); err != nil || size != "2Gi" {
		t.Errorf("the changed application has size %q, %v", size, err)
	}
	harness.AwaitExists(t, stage.Client, fixtures.Application("Redis", tenant, "queue"))
	harness.AwaitGone(t, stage.Client, fixtures.Application("Redis", tenant, "cache"))

	if err := stage.Client.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	harness.Request(t, stage.Client, tenant)
	harness.Await(t, "the deleted application", func(ctx context.Context) (bool, string) {
		again := fixtures.Application("Postgres", tenant, "db")
		err := stage.Client.Get(ctx, client.ObjectKeyFromObject(again), again)
		return err == nil && again.GetUID() != db.GetUID(), fmt.Sprint(err)
	})
}
