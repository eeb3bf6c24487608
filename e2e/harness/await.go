package harness

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// Patience bounds every wait of the tests; none of them takes near as long, not even on a
// machine that has other work.
const Patience = 3 * time.Minute

const poll = 100 * time.Millisecond

// Await polls until done, and fails with what the last look saw.
func Await(t *testing.T, what string, look func(context.Context) (done bool, seen string)) {
	t.Helper()
	var seen string
	// Also in a cleanup, where the test's own context is over.
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), poll, Patience, true, func(ctx context.Context) (bool, error) {
		done, text := look(ctx)
		if ctx.Err() == nil && !strings.Contains(text, "would exceed context deadline") {
			// A look cut off by the end of the wait saw only that; a client that has to wait
			// for its turn says it before the end.
			seen = text
		}
		return done, nil
	})
	if err != nil {
		t.Fatalf("waited in vain for %s; last seen: %s", what, seen)
	}
}

// AwaitCondition waits for a TenantGitOps whose Ready condition has the status
// and holds the part in its reason or message.
func AwaitCondition(t *testing.T, c client.Client, namespace string, status metav1.ConditionStatus, part string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	Await(t, fmt.Sprintf("Ready=%s with %q in %s", status, part, namespace), func(ctx context.Context) (bool, string) {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(tenant.Status.Conditions, "Ready")
		if ready == nil {
			return false, "no condition"
		}
		text := fmt.Sprintf("%s: %s: %s", ready.Status, ready.Reason, ready.Message)
		return ready.Status == status && ready.ObservedGeneration == tenant.Generation && strings.Contains(text, part), text
	})
	return tenant
}

// AwaitApplied waits until every source of a tenant has applied the commit.
func AwaitApplied(t *testing.T, c client.Client, namespace, commit string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	Await(t, fmt.Sprintf("commit %s applied in %s", commit, namespace), func(ctx context.Context) (bool, string) {
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			return false, err.Error()
		}
		applied := len(tenant.Status.Sources) > 0
		var seen []string
		for _, source := range tenant.Status.Sources {
			applied = applied && source.Ready == metav1.ConditionTrue && strings.HasSuffix(source.AppliedRevision, commit)
			seen = append(seen, fmt.Sprintf("%s: %s %s %s, applied %s", source.Name, source.Ready, source.Reason, source.Message, source.AppliedRevision))
		}
		if ready := apimeta.FindStatusCondition(tenant.Status.Conditions, "Ready"); ready != nil {
			seen = append(seen, ready.Message)
		}
		return applied, strings.Join(seen, "; ")
	})
	return tenant
}

// AwaitExists waits until an object exists, and reads it.
func AwaitExists(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	Await(t, fmt.Sprintf("%T %s", obj, client.ObjectKeyFromObject(obj)), func(ctx context.Context) (bool, string) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return err == nil, fmt.Sprint(err)
	})
}

// AwaitGone waits until an object does not exist.
func AwaitGone(t *testing.T, c client.Client, obj client.Object) {
	t.Helper()
	Await(t, fmt.Sprintf("the end of %T %s", obj, client.ObjectKeyFromObject(obj)), func(ctx context.Context) (bool, string) {
		err := c.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if err == nil {
			return false, fmt.Sprintf("it is there, finalizers %v, deleted at %v", obj.GetFinalizers(), obj.GetDeletionTimestamp())
		}
		return client.IgnoreNotFound(err) == nil, err.Error()
	})
}
