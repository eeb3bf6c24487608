package fields_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// TestDependsOn holds the first of two sources back by the health of its application:
// the second is fetched, says what it waits for, and is applied after the first.
func TestDependsOn(t *testing.T) {
	namespace := newTenant(t, "tenant-dependson")
	repository, commit := newRepository(t, "acme/depends-on", map[string]string{
		"first/app.yaml":  fixtures.Postgres("first", "1Gi"),
		"second/app.yaml": fixtures.Redis("second", 1),
		"third/app.yaml":  fixtures.Bucket("third"),
	})
	first, second, third := fromGit(t, namespace, "first", repository), fromGit(t, namespace, "second", repository), fromGit(t, namespace, "third", repository)
	first.Path, second.Path, third.Path = "first", "second", "third"
	first.Wait, first.HealthCheckExprs = true, readyWhenReported("Postgres")
	second.DependsOn = []string{"first"}
	third.DependsOn = []string{"first", "second"}
	write(t, namespace, first, second, third)

	awaitSource(t, namespace, "first", metav1.ConditionUnknown, gitopsv1.ReasonProgressing)
	waiting := awaitSource(t, namespace, "second", metav1.ConditionUnknown, "DependencyNotReady")
	if waiting.AppliedRevision != "" || waiting.Revision == "" {
		t.Errorf("the second source has revision %q and applied %q before the first is ready", waiting.Revision, waiting.AppliedRevision)
	}
	awaitSource(t, namespace, "third", metav1.ConditionUnknown, "DependencyNotReady")
	application(t, "Postgres", namespace, "first")
	wantAbsent(t, "Redis", namespace, "second")
	wantAbsent(t, "Bucket", namespace, "third")

	if err := fixtures.ReportReady(t.Context(), cluster.Client, "Postgres", namespace, "first", metav1.ConditionTrue, "it runs"); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"first", "second", "third"} {
		awaitSourceApplied(t, namespace, source, commit)
	}
	created := application(t, "Postgres", namespace, "first").GetCreationTimestamp()
	if second := application(t, "Redis", namespace, "second").GetCreationTimestamp(); second.Before(&created) {
		t.Errorf("the second source was applied at %v, before the first at %v", second, created)
	}
	application(t, "Bucket", namespace, "third")
}
