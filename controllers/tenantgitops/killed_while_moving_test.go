package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/ownership"
)

// TestKilledAtEachWriteOfAMove kills an operator at its first write after a file has moved
// from one source to another and a third file is gone, the next one at its second, and so
// on. Each time the next operator comes to the same end, and the application is the same.
func TestKilledAtEachWriteOfAMove(t *testing.T) {
	git := harness.NewGitServer(t)
	const limit = 30
	for n := 1; ; n++ {
		if n > limit {
			t.Fatalf("after %d writes the operator has not come to its end", limit)
		}
		namespace := fmt.Sprintf("tenant-killmove%d", n)
		harness.NewTenant(t, cluster.Client, namespace)
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{
			"one/cache.yaml": fixtures.Redis("cache", 1), "one/gone.yaml": fixtures.Redis("gone", 1), "one/rest.yaml": fixtures.Bucket("one"),
			"two/rest.yaml": fixtures.Bucket("two"),
		})
		one := harness.HTTPS(t, cluster.Client, git, namespace, "one", repository)
		two := one
		one.Path, two.Path, two.Name = "one", "two", "two"
		harness.Write(t, cluster.Client, namespace, one, two)
		running(t, func() { harness.AwaitApplied(t, cluster.Client, namespace, commit) })
		was := fixtures.Application("Redis", namespace, "cache")
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(was), was); err != nil {
			t.Fatal(err)
		}

		moved := harness.Commit(t, repository, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 1)}, "one/cache.yaml", "one/gone.yaml")
		fetchOf(t, namespace, "one")
		died := runUntil(t, n, func(context.Context) bool {
			for _, source := range harness.Read(t, cluster.Client, namespace).Status.Sources {
				if source.Ready != metav1.ConditionTrue || source.AppliedRevision != "main@sha1:"+moved || source.Prune != nil {
					return false
				}
			}
			return true
		})
		if died {
			running(t, func() { harness.AwaitApplied(t, cluster.Client, namespace, moved) })
		}
		is := was.DeepCopy()
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(was), is); err != nil {
			t.Fatalf("killed at write %d of the move: %v", n, err)
		}
		if key, _ := ownership.Owner(is.GetLabels()); is.GetUID() != was.GetUID() || key.Name != "gitops-two" {
			t.Errorf("killed at write %d of the move: it is %s of %s, was %s", n, is.GetUID(), key, was.GetUID())
		}
		if exists(t, fixtures.Application("Redis", namespace, "gone")) {
			t.Errorf("killed at write %d of the move: what git deleted is still there", n)
		}
		if !died {
			t.Logf("killed at each of the first %d writes of a move", n-1)
			return
		}
	}
}

// running runs an operator that nobody kills for as long as something is waited for.
func running(t *testing.T, wait func()) {
	t.Helper()
	o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wait()
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
}

// fetchOf asks for the repository of one source.
func fetchOf(t *testing.T, namespace, source string) {
	t.Helper()
	repository := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: names.FluxObject(source)}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":%q}}}`, time.Now().Format(time.RFC3339Nano))
	if err := cluster.Client.Patch(t.Context(), repository, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}
