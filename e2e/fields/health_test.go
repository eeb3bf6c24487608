package fields_test

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// readyWhenReported are health expressions by which an application of a kind is ready
// when its Ready condition says so, and failed when that says the opposite.
func readyWhenReported(kind string) []kustomize.CustomHealthCheck {
	const ready = "has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == '"
	return []kustomize.CustomHealthCheck{{
		APIVersion: fixtures.Group + "/" + fixtures.Version, Kind: kind,
		HealthCheckExpressions: kustomize.HealthCheckExpressions{
			Current:    ready + "True')",
			Failed:     ready + "False')",
			InProgress: "!has(status.conditions) || status.conditions.exists(c, c.type == 'Ready' && c.status == 'Unknown')",
		},
	}}
}

// TestHealth holds sources back until applications report that they are ready: with
// wait all that was applied, with healthChecks what is listed.
func TestHealth(t *testing.T) {
	namespace := newTenant(t, "tenant-health")
	repository, commit := newRepository(t, "acme/health", map[string]string{
		"waited/app.yaml":     fixtures.Postgres("waited", "1Gi"),
		"failing/app.yaml":    fixtures.Postgres("failing", "1Gi"),
		"checked/app.yaml":    fixtures.Redis("checked", 1),
		"checked/other.yaml":  fixtures.Redis("not-checked", 1),
		"unchecked/app.yaml":  fixtures.Postgres("unchecked", "1Gi"),
		"timed-out/late.yaml": fixtures.Bucket("late"),
	})
	waited, failing, checked, unchecked, timedOut := fromGit(t, namespace, "waited", repository), fromGit(t, namespace, "failing", repository),
		fromGit(t, namespace, "checked", repository), fromGit(t, namespace, "unchecked", repository), fromGit(t, namespace, "timed-out", repository)
	waited.Path, failing.Path, checked.Path, unchecked.Path, timedOut.Path = "waited", "failing", "checked", "unchecked", "timed-out"
	waited.Wait, waited.HealthCheckExprs = true, readyWhenReported("Postgres")
	failing.Wait, failing.HealthCheckExprs = true, readyWhenReported("Postgres")
	checked.HealthChecks = []meta.NamespacedObjectKindReference{{
		APIVersion: fixtures.Group + "/" + fixtures.Version, Kind: "Redis", Name: "checked", Namespace: namespace,
	}}
	checked.HealthCheckExprs = readyWhenReported("Redis")
	unchecked.HealthCheckExprs = readyWhenReported("Postgres")
	// By the operator's own expressions: what reports nothing is not ready.
	timedOut.Wait = true
	// The shortest that there is.
	timedOut.Timeout = duration(30 * time.Second)
	write(t, namespace, waited, failing, checked, unchecked, timedOut)

	// Without wait and healthChecks nobody looks; that it is applied shows that the
	// others, beside it, are held.
	awaitSourceApplied(t, namespace, "unchecked", commit)
	for name, kind := range map[string]string{"waited": "Postgres", "failing": "Postgres", "checked": "Redis"} {
		awaitSource(t, namespace, name, metav1.ConditionUnknown, gitopsv1.ReasonProgressing)
		application(t, kind, namespace, name)
	}

	report := func(kind, name string, status metav1.ConditionStatus) {
		t.Helper()
		if err := fixtures.ReportReady(t.Context(), cluster.Client, kind, namespace, name, status, "out of space"); err != nil {
			t.Fatal(err)
		}
	}
	report("Postgres", "waited", metav1.ConditionTrue)
	awaitSourceApplied(t, namespace, "waited", commit)
	report("Redis", "checked", metav1.ConditionTrue)
	awaitSourceApplied(t, namespace, "checked", commit)
	report("Postgres", "failing", metav1.ConditionFalse)
	failed := awaitSource(t, namespace, "failing", metav1.ConditionFalse, "HealthCheckFailed")
	if want := "Postgres/" + namespace + "/failing"; !strings.Contains(failed.Message, want) {
		t.Errorf("the message does not name %s: %s", want, failed.Message)
	}
	awaitSource(t, namespace, "timed-out", metav1.ConditionFalse, "HealthCheckFailed: health check failed after 30")
}
