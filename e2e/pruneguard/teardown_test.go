package pruneguard_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	rbacv1 "k8s.io/api/rbac/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
)

// TestDeletionPolicyNeedsNoConfirmation removes a source, and then the TenantGitOps with a
// source that is blocked: what becomes of the applications is deletionPolicy's.
func TestDeletionPolicyNeedsNoConfirmation(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-policy"
	files := manifests("first", 5)
	for path, content := range manifests("second", 5) {
		files[path] = content
	}
	repository, commit := newTenant(t, namespace, files)
	first, second := folder(t, namespace, "first", repository), folder(t, namespace, "second", repository)
	first.DeletionPolicy, second.DeletionPolicy = "Delete", "Delete"
	write(t, namespace, first, second)
	awaitApplied(t, namespace, "first", commit)
	awaitApplied(t, namespace, "second", commit)

	write(t, namespace, second)
	awaitApplications(t, namespace, 5)

	blocked := push(t, namespace, repository, nil, filesOf("second", 0, 4)...)
	awaitBlocked(t, namespace, "second", blocked, 4, 5)
	tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
	if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenant)
	awaitApplications(t, namespace, 0)
}

// TestPruneOffLetsABlockedSourceGoOn: what is not to be deleted is kept for good.
func TestPruneOffLetsABlockedSourceGoOn(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-pruneoff"
	repository, commit := newTenant(t, namespace, manifests("apps", 5))
	source := folder(t, namespace, "apps", repository)
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	blocked := push(t, namespace, repository, nil, filesOf("apps", 0, 4)...)
	awaitBlocked(t, namespace, "apps", blocked, 4, 5)

	off := false
	source.Prune = &off
	write(t, namespace, source)
	if status := awaitApplied(t, namespace, "apps", blocked); status.Applications != 1 || status.Prune != nil {
		t.Errorf("the status says %+v", status)
	}
	awaitApplications(t, namespace, 5)
}

// TestSuspendedWhileBlocked: a suspended source says so and deletes nothing, confirmed
// or not; resumed, it goes on.
func TestSuspendedWhileBlocked(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-suspended"
	repository, commit := newTenant(t, namespace, manifests("apps", 5))
	source := folder(t, namespace, "apps", repository)
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	blocked := push(t, namespace, repository, nil, filesOf("apps", 0, 4)...)
	awaitBlocked(t, namespace, "apps", blocked, 4, 5)

	source.Suspend = true
	confirm(t, namespace, source, "main@sha1:"+blocked)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSuspended)
	wantNoGrant(t, namespace, "apps")
	awaitApplications(t, namespace, 5)
	source.Suspend = false
	confirm(t, namespace, source, "main@sha1:"+blocked)
	awaitApplied(t, namespace, "apps", blocked)
	awaitApplications(t, namespace, 1)
}

// TestMovedTargetIsBlocked moves a source of four applications from a child's namespace to
// the parent's: they come there at once, those in the child's go when it is confirmed,
// and so long the git account stays there.
func TestMovedTargetIsBlocked(t *testing.T) {
	t.Parallel()
	const parent, child = "tenant-moved", "tenant-moved-child"
	repository, commit := newTenant(t, child, manifests("apps", 4))
	source := folder(t, parent, "apps", repository)
	source.TargetNamespace = child
	write(t, parent, source)
	awaitApplied(t, parent, "apps", commit)

	source.TargetNamespace = ""
	write(t, parent, source)
	awaitBlocked(t, parent, "apps", commit, 4, 4)
	awaitApplications(t, parent, 4)
	awaitApplications(t, child, 4)
	binding := &rbacv1.RoleBinding{}
	key := types.NamespacedName{Namespace: child, Name: names.GitRole(parent, child)}
	if err := cluster.Client.Get(t.Context(), key, binding); err != nil {
		t.Errorf("the git account has left the child's namespace: %v", err)
	}
	confirm(t, parent, source, "main@sha1:"+commit)
	awaitApplied(t, parent, "apps", commit)
	awaitApplications(t, child, 0)
	awaitApplications(t, parent, 4)
	harness.Await(t, "the git account to leave the child's namespace", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, key, binding)
		return err != nil, fmt.Sprint(err)
	})
}
