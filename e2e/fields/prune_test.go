package fields_test

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestPruneOff removes the same file from two sources: the application of the one that
// prunes goes, that of the other stays.
func TestPruneOff(t *testing.T) {
	namespace := newTenant(t, "tenant-pruneoff")
	repository, commit := newRepository(t, "acme/prune-off", map[string]string{
		"kept/stays.yaml": fixtures.Redis("kept-stays", 1), "kept/gone.yaml": fixtures.Redis("kept-gone", 1),
		"pruned/stays.yaml": fixtures.Redis("pruned-stays", 1), "pruned/gone.yaml": fixtures.Redis("pruned-gone", 1),
	})
	kept, pruned := fromGit(t, namespace, "kept", repository), fromGit(t, namespace, "pruned", repository)
	kept.Path, pruned.Path = "kept", "pruned"
	kept.Prune = pointer(false)
	write(t, namespace, kept, pruned)
	awaitSourceApplied(t, namespace, "kept", commit)
	awaitSourceApplied(t, namespace, "pruned", commit)

	commit = harness.Commit(t, repository, nil, "kept/gone.yaml", "pruned/gone.yaml")
	harness.Request(t, cluster.Client, namespace)
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", namespace, "pruned-gone"))
	if status := awaitSourceApplied(t, namespace, "kept", commit); status.Applications != 1 {
		t.Errorf("the source that does not prune counts %d applications, want 1", status.Applications)
	}
	application(t, "Redis", namespace, "kept-gone")
}
