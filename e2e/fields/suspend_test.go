package fields_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSuspendedSource commits to two repositories while the source of one of them is
// suspended: that one is not applied, and catches up when it is resumed.
func TestSuspendedSource(t *testing.T) {
	namespace := newTenant(t, "tenant-suspendsource")
	paused, awake := twoSources(t, namespace)

	paused.source.Suspend = true
	write(t, namespace, paused.source, awake.source)
	status := awaitSource(t, namespace, "paused", metav1.ConditionTrue, gitopsv1.ReasonSuspended)
	if status.AppliedRevision == "" || status.Applications != 1 {
		t.Errorf("the status of a suspended source does not say what is applied: %+v", status)
	}
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "1 of 2 sources applied, 1 suspended")

	missed := harness.Commit(t, paused.repository, map[string]string{"app.yaml": fixtures.Redis("paused", 2)})
	seen := harness.Commit(t, awake.repository, map[string]string{"app.yaml": fixtures.Redis("awake", 2)})
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "awake", seen)
	wantSpec(t, application(t, "Redis", namespace, "paused"), "replicas", "1")

	paused.source.Suspend = false
	write(t, namespace, paused.source, awake.source)
	awaitSourceApplied(t, namespace, "paused", missed)
	wantSpec(t, application(t, "Redis", namespace, "paused"), "replicas", "2")
}

// TestSuspendedTenant suspends the whole TenantGitOps.
func TestSuspendedTenant(t *testing.T) {
	namespace := newTenant(t, "tenant-suspendall")
	first, second := twoSources(t, namespace)

	suspend(t, namespace, true)
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, gitopsv1.ReasonSuspended)
	commits := map[string]string{}
	for _, one := range []watchedSource{first, second} {
		awaitSource(t, namespace, one.source.Name, metav1.ConditionTrue, gitopsv1.ReasonSuspended)
		if !gitRepository(t, namespace, one.source.Name).Spec.Suspend || !kustomization(t, namespace, one.source.Name).Spec.Suspend {
			t.Errorf("source %s is not suspended in Flux", one.source.Name)
		}
		commits[one.source.Name] = harness.Commit(t, one.repository, map[string]string{"app.yaml": fixtures.Redis(one.source.Name, 2)})
	}

	// A request is not handed on either; that it is handled shows that all has been
	// looked at.
	harness.Request(t, cluster.Client, namespace)
	awaitHandled(t, namespace)
	for _, one := range []watchedSource{first, second} {
		wantSpec(t, application(t, "Redis", namespace, one.source.Name), "replicas", "1")
	}

	suspend(t, namespace, false)
	for name, commit := range commits {
		awaitSourceApplied(t, namespace, name, commit)
	}
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
}

// watchedSource is a source and its repository.
type watchedSource struct {
	source     gitopsv1.Source
	repository *gitserver.Repository
}

// twoSources applies two repositories with one application each.
func twoSources(t *testing.T, namespace string) (paused, awake watchedSource) {
	t.Helper()
	newSource := func(name string) (watchedSource, string) {
		repository, commit := newRepository(t, namespace+"/"+name, map[string]string{"app.yaml": fixtures.Redis(name, 1)})
		return watchedSource{source: fromGit(t, namespace, name, repository), repository: repository}, commit
	}
	paused, first := newSource("paused")
	awake, second := newSource("awake")
	write(t, namespace, paused.source, awake.source)
	awaitSourceApplied(t, namespace, "paused", first)
	awaitSourceApplied(t, namespace, "awake", second)
	return paused, awake
}

func suspend(t *testing.T, namespace string, suspended bool) {
	t.Helper()
	tenant := harness.Read(t, cluster.Client, namespace)
	changed := tenant.DeepCopy()
	changed.Spec.Suspend = suspended
	if err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(tenant)); err != nil {
		t.Fatal(err)
	}
}
