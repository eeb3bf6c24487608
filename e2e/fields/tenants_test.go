package fields_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// day is the longest interval there is: what happens at once did not wait for it.
var day = metav1.Duration{Duration: 24 * time.Hour}

// newTenant makes a tenant of its own for a test that runs beside others. The
// TenantGitOps, and with it the controller, goes when the test ends.
func newTenant(t *testing.T, namespace string) string {
	t.Helper()
	t.Parallel()
	harness.NewTenant(t, cluster.Client, namespace)
	deleteAfter(t, namespace)
	return namespace
}

// deleteAfter deletes the TenantGitOps of a namespace when the test has ended.
func deleteAfter(t *testing.T, namespace string) {
	t.Helper()
	t.Cleanup(func() {
		tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
		// The test's own context has ended.
		if err := cluster.Client.Delete(context.Background(), tenant); client.IgnoreNotFound(err) != nil {
			t.Errorf("cannot delete the TenantGitOps of %s: %v", namespace, err)
		}
	})
}

// newRepository makes a public repository with one commit.
func newRepository(t *testing.T, name string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	return harness.NewRepository(t, git, name, files)
}

// fromGit is a source that reads a public repository once a day.
func fromGit(t *testing.T, namespace, name string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	source := harness.HTTPS(t, cluster.Client, git, namespace, name, repository)
	source.Git.Interval, source.Interval = day, day
	return source
}

func write(t *testing.T, namespace string, sources ...gitopsv1.Source) {
	t.Helper()
	harness.Write(t, cluster.Client, namespace, sources...)
}

// awaitSource waits for the state of one source: a part of its reason or message.
func awaitSource(t *testing.T, namespace, name string, ready metav1.ConditionStatus, part string) gitopsv1.SourceStatus {
	t.Helper()
	var found gitopsv1.SourceStatus
	harness.Await(t, fmt.Sprintf("source %s of %s to be %s with %q", name, namespace, ready, part), func(ctx context.Context) (bool, string) {
		tenant := &gitopsv1.TenantGitOps{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			return false, err.Error()
		}
		for _, source := range tenant.Status.Sources {
			if source.Name != name {
				continue
			}
			found = source
			text := fmt.Sprintf("%s: %s: %s", source.Ready, source.Reason, source.Message)
			return tenant.Status.ObservedGeneration == tenant.Generation && source.Ready == ready && strings.Contains(text, part), text
		}
		return false, "no such source in the status"
	})
	return found
}

// awaitSourceApplied waits until a source has applied a commit.
func awaitSourceApplied(t *testing.T, namespace, name, commit string) gitopsv1.SourceStatus {
	t.Helper()
	return awaitSource(t, namespace, name, metav1.ConditionTrue, commit)
}

// application reads an application, which must exist.
func application(t *testing.T, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object := fixtures.Application(kind, namespace, name)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// wantAbsent says that an application must not exist.
func wantAbsent(t *testing.T, kind, namespace, name string) {
	t.Helper()
	object := fixtures.Application(kind, namespace, name)
	err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
	if err == nil {
		t.Errorf("%s %s/%s exists", kind, namespace, name)
	} else if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}

// specOf returns a field of an application's spec as text.
func specOf(application *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedFieldNoCopy(application.Object, "spec", field)
	return fmt.Sprint(value)
}

func wantSpec(t *testing.T, application *unstructured.Unstructured, field, want string) {
	t.Helper()
	if got := specOf(application, field); got != want {
		t.Errorf("%s %s has %s %q, want %q", application.GetKind(), application.GetName(), field, got, want)
	}
}

// fluxName is the name of a source's Flux objects.
func fluxName(source string) string { return "gitops-" + source }

func kustomization(t *testing.T, namespace, source string) *kustomizev1.Kustomization {
	t.Helper()
	object := &kustomizev1.Kustomization{}
	read(t, namespace, source, object)
	return object
}

func gitRepository(t *testing.T, namespace, source string) *sourcev1.GitRepository {
	t.Helper()
	object := &sourcev1.GitRepository{}
	read(t, namespace, source, object)
	return object
}

func read(t *testing.T, namespace, source string, object client.Object) {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: fluxName(source)}, object); err != nil {
		t.Fatal(err)
	}
}

func secretRef(name string) *meta.LocalObjectReference { return &meta.LocalObjectReference{Name: name} }
