package ownership_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
)

// tries counts how often a git account was refused an application, and how often it wrote
// one.
func tries(t *testing.T, namespace, application string, since time.Time) (refused, written int) {
	t.Helper()
	account := fmt.Sprintf("system:serviceaccount:%s:%s", namespace, names.GitAccount(namespace))
	writes, err := cluster.Writes(since, func(w embedded.Write) bool {
		return w.Group == fixtures.Group && w.User == account && w.Name == application
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if write.Code >= 400 {
			refused++
		} else {
			written++
		}
	}
	return refused, written
}

// TestTwoSourcesOfATenantConflict: two sources have the same application: who has it keeps it, both say so,
// and when one lets go of it both are well.
func TestTwoSourcesOfATenantConflict(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"claimant", "owner"} {
		t.Run("solved by the "+who, func(t *testing.T) {
			namespace := "tenant-conflict" + who
			repository, commit := newTenant(t, namespace, start("cache"))
			one, two := folder(t, namespace, "one", repository), folder(t, namespace, "two", repository)
			write(t, namespace, one, two)
			awaitApplied(t, namespace, "one", commit)
			awaitApplied(t, namespace, "two", commit)
			was := redis(t, namespace, "cache")

			began := time.Now()
			harness.Commit(t, repository, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 5)})
			harness.Request(t, cluster.Client, namespace)
			application := "Redis/" + namespace + "/cache"
			for source, other := range map[string]string{"one": "two", "two": "one"} {
				status := awaitSource(t, namespace, source, metav1.ConditionFalse, gitopsv1.ReasonConflict+": "+application+" is in source "+other+" too: remove it from one of the two")
				if len(status.Conflicts) != 1 || status.Conflicts[0] != (gitopsv1.ConflictStatus{Application: application, With: namespace + "/gitops-" + other}) {
					t.Errorf("source %s names the conflicts %v", source, status.Conflicts)
				}
			}
			// Both try again and again, as they would at intervals.
			rounds := 0
			harness.Await(t, "several attempts", func(context.Context) (bool, string) {
				refused, _ := tries(t, namespace, "cache", began)
				if refused > rounds {
					rounds = refused
					harness.Request(t, cluster.Client, namespace)
				}
				for _, source := range harness.Read(t, cluster.Client, namespace).Status.Sources {
					if source.Reason != gitopsv1.ReasonConflict {
						t.Errorf("source %s is %s: %s while nothing is solved", source.Name, source.Reason, source.Message)
					}
				}
				return refused >= 4, fmt.Sprint(refused)
			})
			if is := redis(t, namespace, "cache"); is.GetResourceVersion() != was.GetResourceVersion() {
				t.Errorf("the application was written: version %s, was %s: %v", is.GetResourceVersion(), was.GetResourceVersion(), is.Object)
			}
			for _, source := range []string{"one", "two"} {
				if told := events(t, namespace, source, gitopsv1.ReasonConflict); told != 1 {
					t.Errorf("%d events tell of the conflict of source %s, want 1", told, source)
				}
			}

			removed, owner := "two/cache.yaml", namespace+"/gitops-one"
			if who == "owner" {
				removed, owner = "one/cache.yaml", namespace+"/gitops-two"
			}
			solved := harness.Commit(t, repository, nil, removed)
			harness.Request(t, cluster.Client, namespace)
			awaitApplied(t, namespace, "one", solved)
			awaitApplied(t, namespace, "two", solved)
			wantSame(t, was, owner)
			for _, source := range harness.Read(t, cluster.Client, namespace).Status.Sources {
				if len(source.Conflicts) != 0 {
					t.Errorf("source %s still names %v", source.Name, source.Conflicts)
				}
			}
		})
	}
}

// TestParentAndChildConflict: a tenant above has the application, and is told of it too.
func TestParentAndChildConflict(t *testing.T) {
	t.Parallel()
	const parent, child = "tenant-confl", "tenant-confl-child"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := newTenant(t, parent, start("cache"))
	one := folder(t, parent, "one", repository)
	one.TargetNamespace = child
	write(t, parent, one)
	awaitApplied(t, parent, "one", commit)
	was := redis(t, child, "cache")

	other, _ := harness.NewRepository(t, git, child, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 5)})
	write(t, child, folder(t, child, "two", other))
	awaitSource(t, child, "two", metav1.ConditionFalse, "Conflict: Redis/"+child+"/cache is in source one of "+parent+" too")
	status := awaitSource(t, parent, "one", metav1.ConditionFalse, "Conflict: Redis/"+child+"/cache is in source two of "+child+" too")
	if strings.Contains(status.Message, other.HTTPSURL()) {
		t.Errorf("the parent is told of the child's repository: %s", status.Message)
	}
	if is := redis(t, child, "cache"); is.GetResourceVersion() != was.GetResourceVersion() {
		t.Errorf("the application was written: %v", is.Object)
	}

	// The parent lets go of it, and the child has it from then on.
	removed := harness.Commit(t, repository, nil, "one/cache.yaml")
	harness.Request(t, cluster.Client, parent)
	awaitSource(t, child, "two", metav1.ConditionTrue, "applied")
	awaitApplied(t, parent, "one", removed)
	wantSame(t, was, child+"/gitops-two")
}

// TestConflictIsOverWhenTheOwnerIsSuspended: who is suspended takes nothing back.
func TestConflictIsOverWhenTheOwnerIsSuspended(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-conflsus"
	repository, commit := newTenant(t, namespace, start("cache"))
	one, two := folder(t, namespace, "one", repository), folder(t, namespace, "two", repository)
	write(t, namespace, one, two)
	awaitApplied(t, namespace, "one", commit)
	awaitApplied(t, namespace, "two", commit)
	was := redis(t, namespace, "cache")
	last := harness.Commit(t, repository, map[string]string{"two/cache.yaml": fixtures.Redis("cache", 1)})
	harness.Request(t, cluster.Client, namespace)
	awaitSource(t, namespace, "two", metav1.ConditionFalse, gitopsv1.ReasonConflict)
	one.Suspend = true
	write(t, namespace, one, two)
	awaitApplied(t, namespace, "two", last)
	wantSame(t, was, namespace+"/gitops-two")
}
