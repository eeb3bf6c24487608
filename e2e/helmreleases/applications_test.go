package helmreleases

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// newApplication creates an application in the namespace of a new tenant.
func newApplication(t *testing.T, kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	t.Helper()
	if err := fixtures.CreateTenant(t.Context(), cluster.Client, namespace); err != nil {
		t.Fatal(err)
	}
	application := fixtures.Application(kind, namespace, name)
	application.Object["spec"] = spec
	application.SetLabels(map[string]string{"team": "blue"})
	application.SetAnnotations(map[string]string{"note": "ours"})
	if err := cluster.Client.Create(t.Context(), application); err != nil {
		t.Fatal(err)
	}
	return application
}

func TestApplicationHasTheReleaseThatThePlatformMakes(t *testing.T) {
	application := newApplication(t, "Postgres", "tenant-mirror", "db", map[string]any{"size": "1Gi"})
	awaitCondition(t, application, "Ready", "True", "InstallSucceeded")
	awaitCondition(t, application, "Released", "True", "InstallSucceeded")
	release := read(t, releaseNamed("tenant-mirror", "postgres-db"))
	for key, want := range map[string]string{
		"apps.cozystack.io/application.kind": "Postgres", "apps.cozystack.io/application.group": "apps.cozystack.io",
		"apps.cozystack.io/application.name": "db", "sharding.fluxcd.io/key": "tenants", "apps.cozystack.io-team": "blue",
	} {
		if got := release.GetLabels()[key]; got != want {
			t.Errorf("label %s is %q, want %q", key, got, want)
		}
	}
	if got := release.GetAnnotations()["apps.cozystack.io-note"]; got != "ours" {
		t.Errorf("the annotation is %q, want ours", got)
	}
	spec, err := json.Marshal(release.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	from, _, err := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
	if err != nil || len(from) != 1 || fmt.Sprint(from[0]) != "map[kind:Secret name:cozystack-values]" {
		t.Errorf("valuesFrom of %s", spec)
	}
	if size, _, err := unstructured.NestedString(release.Object, "spec", "values", "size"); err != nil || size != "1Gi" {
		t.Errorf("values of %s", spec)
	}
	if namespace := valuesOf(t, release)["_namespace"]; namespace == nil {
		t.Error("the platform's values are not in the release's")
	}
}

func TestChangeOfAnApplicationReachesTheReleaseAndComesBack(t *testing.T) {
	application := newApplication(t, "Redis", "tenant-changes", "cache", map[string]any{"replicas": int64(1), "more": "x"})
	awaitCondition(t, application, "Ready", "True", "InstallSucceeded")
	change(t, application, "{metadata: {labels: {team: null}}, spec: {more: null, fail: out of memory}}")
	failed := awaitCondition(t, application, "Ready", "False", "UpgradeFailed")
	release := read(t, releaseNamed("tenant-changes", "redis-cache"))
	if own := condition(release, "Ready"); failed.Message != own.Message || failed.LastTransitionTime != own.LastTransitionTime {
		t.Errorf("the application says %v, its release %v", failed, own)
	}
	if _, found, err := unstructured.NestedFieldNoCopy(release.Object, "spec", "values", "more"); found || err != nil {
		t.Errorf("what was taken out of the application is still in its release: %v, %v", release.Object["spec"], err)
	}
	if _, found := release.GetLabels()["apps.cozystack.io-team"]; found {
		t.Error("a label that was taken off the application is still on its release")
	}
	change(t, application, "spec: {fail: null}")
	awaitCondition(t, application, "Ready", "True", "UpgradeSucceeded")
}

func TestDeletedApplicationIsUninstalled(t *testing.T) {
	application := newApplication(t, "Bucket", "tenant-deletes", "files", map[string]any{})
	awaitCondition(t, application, "Ready", "True", "InstallSucceeded")
	release := read(t, releaseNamed("tenant-deletes", "bucket-files"))
	if err := cluster.Client.Delete(t.Context(), application); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, release)
	if installed(t, release) {
		t.Error("the release is still installed")
	}
}

// Stored as its release, the application goes with it; a custom resource gets another.
func TestReleaseThatIsDeletedTakesItsApplicationAlongOrComesBack(t *testing.T) {
	application := newApplication(t, "Kafka", "tenant-returns", "queue", map[string]any{})
	awaitCondition(t, application, "Ready", "True", "InstallSucceeded")
	release := read(t, releaseNamed("tenant-returns", "kafka-queue"))
	first := release.GetUID()
	if err := cluster.Client.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	if cluster.Applications() == embedded.AggregatedApplications {
		awaitGone(t, application)
		return
	}
	harness.Await(t, "a new release", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release)
		return err == nil && release.GetUID() != first, fmt.Sprint(err)
	})
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
}
