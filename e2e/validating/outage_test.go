package validating_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestOutageStopsOnlyEditsOfWhatGitManages writes while nobody answers.
func TestOutageStopsOnlyEditsOfWhatGitManages(t *testing.T) {
	o := harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-nobody"
	repository, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}

	if err := edits["merge patch"](t.Context(), person, db); err == nil {
		t.Error("an edit of what git manages passed while nobody answered")
	}
	own := fixtures.Application("Postgres", tenant, "own")
	own.Object["spec"] = map[string]any{"size": "1Gi"}
	wantPassed(t, "creation", person.Create(t.Context(), own.DeepCopy()))
	wantFree(t, person, own)
	wantPassed(t, "a cluster-admin", edits["merge patch"](t.Context(), cluster.Client, db))
	wantPassed(t, "the end of namespaces", account(t, "kube-system", "namespace-controller").Delete(t.Context(), fixtures.Application("Bucket", tenant, "files")))

	// Git waits: an apply that nobody saw would be forgotten.
	harness.Commit(t, repository, map[string]string{"apps/db.yaml": fixtures.Postgres("db", "3Gi")})
	requestFetch(t, tenant)
	harness.Await(t, "git to be told that nobody answers", func(ctx context.Context) (bool, string) {
		kustomization := &kustomizev1.Kustomization{}
		if err := cluster.Client.Get(ctx, types.NamespacedName{Namespace: tenant, Name: "gitops-shop"}, kustomization); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(kustomization.Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			return false, "no condition"
		}
		return strings.Contains(ready.Message, "applied.gitops.cozystack.io"), ready.Message
	})
	harness.WithOperator(t, cluster, harness.Config())
	requestFetch(t, tenant)
	harness.Request(t, cluster.Client, tenant)
	harness.Await(t, "git to apply once somebody answers", func(context.Context) (bool, string) {
		size := size(t, db)
		return size == "3Gi", size
	})
	// A bucket that is back is a second sign that git goes on.
	harness.AwaitExists(t, cluster.Client, fixtures.Application("Bucket", tenant, "files"))
}

// TestFinalizersComeOffWhileNobodyAnswers ends an application that git manages and
// somebody's controller holds.
func TestFinalizersComeOffWhileNobodyAnswers(t *testing.T) {
	o := harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-held"
	_, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)
	writer, holder := person, db
	if cluster.Applications() == embedded.AggregatedApplications {
		// There a finalizer is the release's; an application cannot have one.
		release, err := fixtures.Release(db.GetKind(), tenant, db.GetName())
		if err != nil {
			t.Fatal(err)
		}
		writer, holder = cluster.Client, release
	}
	patch := func(content string) error {
		return writer.Patch(t.Context(), holder.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(content)))
	}
	wantPassed(t, "a finalizer", patch(`{"metadata":{"finalizers":["example.org/held"]}}`))
	wantPassed(t, "deletion by a cluster-admin", cluster.Client.Delete(t.Context(), db.DeepCopy()))
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	uid := uidOf(t, db)
	wantPassed(t, "the finalizer comes off", patch(`{"metadata":{"finalizers":null}}`))
	harness.Await(t, "the end of the database", func(ctx context.Context) (bool, string) {
		// Git may have made the next one already.
		live := db.DeepCopy()
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(db), live)
		return client.IgnoreNotFound(err) == nil && live.GetUID() != uid, fmt.Sprint(err)
	})
}

func uidOf(t *testing.T, application *unstructured.Unstructured) types.UID {
	t.Helper()
	live := application.DeepCopy()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(application), live); err != nil {
		t.Fatal(err)
	}
	return live.GetUID()
}

// requestFetch asks source-controller itself, as `flux reconcile source` would.
func requestFetch(t *testing.T, namespace string) {
	t.Helper()
	source := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops-shop"}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	if err := cluster.Client.Patch(t.Context(), source, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}
