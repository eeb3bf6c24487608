package health_test

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestWaitFailsWithTheTextOfTheRelease waits for a release that fails: the source is not
// ready and says why in Helm's words, what depends on it is not applied, and both go on
// when the repository is mended.
func TestWaitFailsWithTheTextOfTheRelease(t *testing.T) {
	namespace := newTenant(t, "tenant-waitfails")
	repository, _ := newRepository(t, "acme/wait-fails", map[string]string{
		"first/db.yaml":     database("db", "the disk is full"),
		"second/cache.yaml": fixtures.Redis("cache", 1),
	})
	first, second := fromGit(t, namespace, "first", repository), fromGit(t, namespace, "second", repository)
	first.Wait, second.DependsOn = true, []string{"first"}
	harness.Write(t, cluster.Client, namespace, first, second)

	// Flux itself knows that it has failed, and does not sit the timeout out.
	awaitKustomization(t, namespace, "first", "Ready", metav1.ConditionFalse, "failed early due to stalled resources: [Postgres/"+namespace+"/db status: 'Failed'")
	failed := awaitSource(t, namespace, "first", metav1.ConditionFalse, gitopsv1.ReasonApplicationFailed, "postgres db failed: ", "the disk is full")
	if failed.Unready != 1 || failed.Applications != 1 {
		t.Errorf("%d of %d applications are not ready, want 1 of 1", failed.Unready, failed.Applications)
	}
	awaitSource(t, namespace, "second", metav1.ConditionUnknown, "DependencyNotReady")
	cache := fixtures.Application("Redis", namespace, "cache")
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("what depends on a failed source is there: %v", err)
	}

	mended := harness.Commit(t, repository, map[string]string{"first/db.yaml": database("db", "")})
	harness.AwaitApplied(t, cluster.Client, namespace, mended)
	awaitUnready(t, namespace, "first", 0)
}

// TestFreshApplicationIsWaitedFor: an application that has said nothing yet, or only that
// it is on its way, is not ready.
func TestFreshApplicationIsWaitedFor(t *testing.T) {
	namespace := newTenant(t, "tenant-fresh")
	repository, commit := newRepository(t, "acme/fresh", map[string]string{"first/db.yaml": slow("db"), "second/cache.yaml": fixtures.Redis("cache", 1)})
	first, second := fromGit(t, namespace, "first", repository), fromGit(t, namespace, "second", repository)
	first.Wait, second.DependsOn = true, []string{"first"}
	harness.Write(t, cluster.Client, namespace, first, second)

	awaitUnready(t, namespace, "first", 1)
	awaitKustomization(t, namespace, "first", "Healthy", metav1.ConditionUnknown, "Running health checks")
	if source := awaitSource(t, namespace, "first", metav1.ConditionUnknown, gitopsv1.ReasonProgressing); source.AppliedRevision != "" {
		t.Errorf("%s counts as applied", source.AppliedRevision)
	}
	awaitSource(t, namespace, "second", metav1.ConditionUnknown, "DependencyNotReady")

	finish(t, namespace, "db")
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
	awaitUnready(t, namespace, "first", 0)
}

// TestDependentsWaitForHealthWhileDeletionsAreHeld moves an application to a source that
// waits for the one it leaves, which has got another one that is not ready yet. Flux prunes
// before it looks at health, and the deletion waits for the dependent.
func TestDependentsWaitForHealthWhileDeletionsAreHeld(t *testing.T) {
	namespace := newTenant(t, "tenant-heldhealth")
	repository, commit := newRepository(t, "acme/held-health", map[string]string{
		"first/cache.yaml": fixtures.Redis("cache", 1), "first/rest.yaml": fixtures.Bucket("one"), "second/rest.yaml": fixtures.Bucket("two"),
	})
	first, second := fromGit(t, namespace, "first", repository), fromGit(t, namespace, "second", repository)
	first.Wait, second.DependsOn = true, []string{"first"}
	harness.Write(t, cluster.Client, namespace, first, second)
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
	cache := fixtures.Application("Redis", namespace, "cache")
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); err != nil {
		t.Fatal(err)
	}
	was := cache.GetUID()

	last := harness.Commit(t, repository, map[string]string{
		"first/db.yaml": slow("db"), "second/cache.yaml": fixtures.Redis("cache", 1),
	}, "first/cache.yaml")
	awaitSource(t, namespace, "first", metav1.ConditionUnknown, "before it deletes applications")
	awaitUnready(t, namespace, "first", 1)
	waits := awaitKustomization(t, namespace, "second", "Ready", metav1.ConditionFalse, "dependency")
	if len(waits.Spec.DependsOn) != 1 || strings.HasSuffix(waits.Status.LastAppliedRevision, last) {
		t.Errorf("the second source depends on %v and has applied %s while the first is not healthy", waits.Spec.DependsOn, waits.Status.LastAppliedRevision)
	}

	finish(t, namespace, "db")
	harness.AwaitApplied(t, cluster.Client, namespace, last)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); err != nil || cache.GetUID() != was {
		t.Errorf("the cache is %s, was %s: %v", cache.GetUID(), was, err)
	}
}

// TestTenantsOwnExpressionWins takes an application for healthy that ours would wait for.
func TestTenantsOwnExpressionWins(t *testing.T) {
	namespace := newTenant(t, "tenant-ownexprs")
	repository, commit := newRepository(t, "acme/own-exprs", map[string]string{"apps/db.yaml": slow("db")})
	source := fromGit(t, namespace, "apps", repository)
	source.Wait = true
	source.HealthCheckExprs = []kustomize.CustomHealthCheck{{
		APIVersion: fixtures.Group + "/" + fixtures.Version, Kind: "Postgres",
		HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: "metadata.name == 'db'"},
	}}
	harness.Write(t, cluster.Client, namespace, source)
	applied := awaitSource(t, namespace, "apps", metav1.ConditionTrue, commit)
	if applied.Unready != 1 {
		t.Errorf("%d applications are not ready, want 1", applied.Unready)
	}

	k := awaitKustomization(t, namespace, "apps", "Ready", metav1.ConditionTrue, "Applied revision")
	said := map[string]string{}
	for _, check := range k.Spec.HealthCheckExprs {
		said[check.Kind] += check.Current
	}
	for _, kind := range fixtures.Kinds {
		_, has := said[kind.Kind]
		if has != kind.TenantAdmins {
			t.Errorf("there is an expression for %s: %t; git may write it: %t", kind.Kind, has, kind.TenantAdmins)
		}
	}
	if said["Postgres"] != "metadata.name == 'db'" || !strings.Contains(said["Redis"], "Ready") {
		t.Errorf("the expressions are %v", said)
	}
}
