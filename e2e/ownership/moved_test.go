package ownership_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// start has the file of a cache in the folder of one source, and something else in both.
func start(name string) map[string]string {
	return map[string]string{
		"one/cache.yaml": fixtures.Redis(name, 1),
		"one/rest.yaml":  fixtures.Bucket("one"),
		"two/rest.yaml":  fixtures.Bucket("two"),
	}
}

// TestMovedInOneCommit moves a file from the folder of one source to that of another. Who
// hears of it first is not said.
func TestMovedInOneCommit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, first string
	}{
		{name: "tenant-leftfirst", first: "one"},
		{name: "tenant-tookfirst", first: "two"},
	} {
		t.Run(test.first, func(t *testing.T) {
			repository, commit := newTenant(t, test.name, start("cache"))
			write(t, test.name, folder(t, test.name, "one", repository), folder(t, test.name, "two", repository))
			awaitApplied(t, test.name, "one", commit)
			awaitApplied(t, test.name, "two", commit)
			was := redis(t, test.name, "cache")

			moved := harness.Commit(t, repository, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 1)}, "one/cache.yaml")
			fetch(t, test.name, test.first)
			if test.first == "two" {
				// The one that has it has not heard that it is to let go of it.
				awaitSource(t, test.name, "two", metav1.ConditionFalse, gitopsv1.ReasonConflict)
				wantSame(t, was, test.name+"/gitops-one")
				fetch(t, test.name, "one")
			}
			awaitApplied(t, test.name, "two", moved)
			awaitApplied(t, test.name, "one", moved)
			wantSame(t, was, test.name+"/gitops-two")
		})
	}
}

// TestMovedByRequest has the operator look at all sources at once.
func TestMovedByRequest(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-movedall"
	files := start("cache")
	for _, name := range []string{"a", "b", "c", "d"} {
		files["one/"+name+".yaml"] = fixtures.Redis(name, 1)
	}
	repository, commit := newTenant(t, namespace, files)
	write(t, namespace, folder(t, namespace, "one", repository), folder(t, namespace, "two", repository))
	awaitApplied(t, namespace, "one", commit)
	awaitApplied(t, namespace, "two", commit)
	was := redis(t, namespace, "c")

	// More than half of them, which would ask for a confirmation if they were to go.
	moved, removed := map[string]string{}, []string{}
	for _, name := range []string{"a", "b", "c", "d"} {
		moved["two/"+name+".yaml"] = fixtures.Redis(name, 1)
		removed = append(removed, "one/"+name+".yaml")
	}
	last := harness.Commit(t, repository, moved, removed...)
	harness.Request(t, cluster.Client, namespace)
	awaitApplied(t, namespace, "two", last)
	awaitApplied(t, namespace, "one", last)
	wantSame(t, was, namespace+"/gitops-two")
}

// TestMovedToADependent moves a file to a source that waits for the one it leaves.
func TestMovedToADependent(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-moveddep"
	repository, commit := newTenant(t, namespace, start("cache"))
	one, two := folder(t, namespace, "one", repository), folder(t, namespace, "two", repository)
	two.DependsOn = []string{"one"}
	write(t, namespace, one, two)
	awaitApplied(t, namespace, "two", commit)
	was := redis(t, namespace, "cache")
	moved := harness.Commit(t, repository, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 1)}, "one/cache.yaml")
	harness.Request(t, cluster.Client, namespace)
	awaitApplied(t, namespace, "one", moved)
	awaitApplied(t, namespace, "two", moved)
	wantSame(t, was, namespace+"/gitops-two")
}

// TestMovedBetweenRepositories: the second repository has it already, and nobody has
// looked when the first one loses it.
func TestMovedBetweenRepositories(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-movedrepo"
	repository, commit := newTenant(t, namespace, start("cache"))
	other, otherCommit := harness.NewRepository(t, git, namespace+"-other", map[string]string{"two/rest.yaml": fixtures.Bucket("two")})
	write(t, namespace, folder(t, namespace, "one", repository), folder(t, namespace, "two", other))
	awaitApplied(t, namespace, "one", commit)
	awaitApplied(t, namespace, "two", otherCommit)
	was := redis(t, namespace, "cache")

	added := harness.Commit(t, other, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 1)})
	removed := harness.Commit(t, repository, nil, "one/cache.yaml")
	fetch(t, namespace, "one")
	awaitApplied(t, namespace, "two", added)
	awaitApplied(t, namespace, "one", removed)
	wantSame(t, was, namespace+"/gitops-two")
}

// TestRenamedInItsSource deletes the old one and makes the new one, as git says.
func TestRenamedInItsSource(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-rename"
	repository, commit := newTenant(t, namespace, start("cache"))
	write(t, namespace, folder(t, namespace, "one", repository), folder(t, namespace, "two", repository))
	awaitApplied(t, namespace, "one", commit)
	awaitApplied(t, namespace, "two", commit)
	renamed := harness.Commit(t, repository, map[string]string{"one/cache.yaml": fixtures.Redis("store", 1)})
	fetch(t, namespace, "one")
	awaitApplied(t, namespace, "one", renamed)
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", namespace, "cache"))
	redis(t, namespace, "store")
}

// TestFailingSourceHoldsDeletionsUntilConfirmed: nobody knows what a source has that
// cannot be built, so the tenant decides.
func TestFailingSourceHoldsDeletionsUntilConfirmed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		mend func(t *testing.T, namespace, revision string, one, two gitopsv1.Source)
	}{
		{"confirmed", func(t *testing.T, namespace, revision string, one, two gitopsv1.Source) {
			one.ConfirmPrune = revision
			write(t, namespace, one, two)
		}},
		{"suspended", func(t *testing.T, namespace, _ string, one, two gitopsv1.Source) {
			two.Suspend = true
			write(t, namespace, one, two)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			namespace := "tenant-fails" + test.name
			repository, commit := newTenant(t, namespace, start("cache"))
			one, two := folder(t, namespace, "one", repository), folder(t, namespace, "two", repository)
			write(t, namespace, one, two)
			awaitApplied(t, namespace, "one", commit)
			awaitApplied(t, namespace, "two", commit)
			was := redis(t, namespace, "cache")
			broken := harness.Commit(t, repository, map[string]string{"two/kustomization.yaml": "resources: [missing.yaml]\n"}, "one/cache.yaml")
			began := time.Now()
			harness.Request(t, cluster.Client, namespace)
			awaitSource(t, namespace, "one", metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked)
			t.Logf("said so after %s", time.Since(began))
			wantSame(t, was, namespace+"/gitops-one")
			test.mend(t, namespace, "main@sha1:"+broken, one, two)
			harness.AwaitGone(t, cluster.Client, was)
			awaitApplied(t, namespace, "one", broken)
		})
	}
}

// TestSourceThatNeverComesToAnEndIsToldOf: three waits for two, which has applied all that it
// has and never becomes healthy; so nobody knows whether three wants what one has let go of.
func TestSourceThatNeverComesToAnEndIsToldOf(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-overdue"
	files := start("cache")
	files["three/rest.yaml"] = fixtures.Bucket("three")
	repository, commit := newTenant(t, namespace, files)
	one, two, three := folder(t, namespace, "one", repository), folder(t, namespace, "two", repository), folder(t, namespace, "three", repository)
	shortest := metav1.Duration{Duration: 30 * time.Second}
	two.Timeout, three.Timeout = &shortest, &shortest
	two.HealthChecks = []meta.NamespacedObjectKindReference{{
		APIVersion: fixtures.Group + "/" + fixtures.Version, Kind: "Redis", Name: "absent", Namespace: namespace,
	}}
	three.DependsOn = []string{"two"}
	write(t, namespace, one, two, three)
	awaitApplied(t, namespace, "one", commit)
	awaitSource(t, namespace, "two", metav1.ConditionFalse, meta.HealthCheckFailedReason)
	was := redis(t, namespace, "cache")

	last := harness.Commit(t, repository, nil, "one/cache.yaml")
	harness.Request(t, cluster.Client, namespace)
	blocked := awaitSource(t, namespace, "one", metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked)
	if !strings.Contains(blocked.Message, "source three has not come to an end") || !strings.Contains(blocked.Message, "confirmPrune") {
		t.Errorf("the source says %q", blocked.Message)
	}
	wantSame(t, was, namespace+"/gitops-one")

	three.Suspend = true
	write(t, namespace, one, two, three)
	harness.AwaitGone(t, cluster.Client, was)
	awaitApplied(t, namespace, "one", last)
}

// TestExchanged swaps two files in one commit: each source stops at what the other has.
func TestExchanged(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-exchange"
	files := start("cache")
	files["two/store.yaml"] = fixtures.Redis("store", 1)
	repository, commit := newTenant(t, namespace, files)
	write(t, namespace, folder(t, namespace, "one", repository), folder(t, namespace, "two", repository))
	awaitApplied(t, namespace, "one", commit)
	awaitApplied(t, namespace, "two", commit)
	cache, store := redis(t, namespace, "cache"), redis(t, namespace, "store")
	last := harness.Commit(t, repository, map[string]string{
		"one/store.yaml": fixtures.Redis("store", 1), "two/cache.yaml": fixtures.Redis("cache", 1),
	}, "one/cache.yaml", "two/store.yaml")
	harness.Request(t, cluster.Client, namespace)
	awaitApplied(t, namespace, "one", last)
	awaitApplied(t, namespace, "two", last)
	wantSame(t, cache, namespace+"/gitops-two")
	wantSame(t, store, namespace+"/gitops-one")
}
