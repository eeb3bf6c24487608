package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSteadyApplicationsAreNotWrittenTo has git apply fifty applications, and apply them
// again three times. Flux tries each of them before it applies it; the platform's server
// stores the try as well. None of that may change an application.
func TestSteadyApplicationsAreNotWrittenTo(t *testing.T) {
	const applications, resyncs, namespace = 50, 3, "tenant-steadyapps"
	harness.WithOperator(t, cluster, harness.Config())
	harness.NewTenant(t, cluster.Client, namespace)
	git := harness.NewGitServer(t)
	files := map[string]string{}
	for i := range applications {
		name := fmt.Sprintf("db%d", i)
		files[name+".yaml"] = fixtures.Postgres(name, "1Gi")
	}
	repository, commit := harness.NewRepository(t, git, namespace, files)
	harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "Succeeded")
	// The schema's defaults are stored with the second time.
	applyAgain(t, namespace)

	versions, before := versionsOf(t, namespace), writesOfApplications(t)
	if len(versions) != applications {
		t.Fatalf("%d applications, want %d", len(versions), applications)
	}
	for range resyncs {
		applyAgain(t, namespace)
		harness.Request(t, cluster.Client, namespace)
		harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "Succeeded")
	}
	for name, version := range versionsOf(t, namespace) {
		if version != versions[name] {
			t.Errorf("application %s was changed", name)
		}
	}
	after := writesOfApplications(t)
	if changed := after.changed - before.changed; changed != 0 {
		t.Errorf("%d writes changed something", changed)
	}
	if cluster.Applications() == embedded.AggregatedApplications && after.unchanged-before.unchanged < resyncs*applications {
		t.Errorf("%d writes were counted: each application is written in each of %d resyncs", after.unchanged-before.unchanged, resyncs)
	}
}

// applyAgain asks the tenant's kustomize-controller to apply at once, and waits for it.
func applyAgain(t *testing.T, namespace string) {
	t.Helper()
	kustomization := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops-apps"}}
	asked := time.Now().Format(time.RFC3339Nano)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, asked)
	if err := cluster.Client.Patch(t.Context(), kustomization, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "git to be applied again", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(kustomization), kustomization); err != nil {
			return false, err.Error()
		}
		return kustomization.Status.GetLastHandledReconcileRequest() == asked, fmt.Sprintf("%+v", kustomization.Status.Conditions)
	})
}

func versionsOf(t *testing.T, namespace string) map[string]string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(fixtures.Application("PostgresList", "", "").GroupVersionKind())
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, item := range list.Items {
		versions[item.GetName()] = item.GetResourceVersion()
	}
	return versions
}

type applicationWrites struct{ changed, unchanged int }

// writesOfApplications are those that the platform's server of applications has counted;
// where there is none, none are.
func writesOfApplications(t *testing.T) applicationWrites {
	t.Helper()
	var sum applicationWrites
	if cluster.Applications() != embedded.AggregatedApplications {
		return sum
	}
	counts, err := cluster.ApplicationWrites(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range counts {
		sum.changed += count.Changed
		sum.unchanged += count.Unchanged
	}
	return sum
}
