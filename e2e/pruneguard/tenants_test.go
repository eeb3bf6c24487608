package pruneguard_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// day is the longest interval there is: what goes on did not wait for Flux's next try.
var day = metav1.Duration{Duration: 24 * time.Hour}

// manifests are files with so many applications, in a folder of the repository.
func manifests(folder string, count int) map[string]string {
	files := map[string]string{}
	for i := range count {
		files[file(folder, i)] = fixtures.Redis(name(folder, i), 1)
	}
	return files
}

func file(folder string, i int) string { return fmt.Sprintf("%s/%s.yaml", folder, name(folder, i)) }

func name(folder string, i int) string { return fmt.Sprintf("%s-%02d", folder, i) }

// filesOf are the paths of those applications from the first to before the last.
func filesOf(folder string, first, last int) []string {
	var paths []string
	for i := first; i < last; i++ {
		paths = append(paths, file(folder, i))
	}
	return paths
}

// newTenant makes a tenant whose TenantGitOps, and with it the controller, goes when the
// test ends, and a repository for it.
func newTenant(t *testing.T, namespace string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	harness.NewTenant(t, cluster.Client, namespace)
	return harness.NewRepository(t, git, namespace, files)
}

// folder is a source that applies one folder of a repository. Nobody looks again or
// tries again by an interval.
func folder(t *testing.T, namespace, path string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	source := harness.HTTPS(t, cluster.Client, git, namespace, path, repository)
	source.Path = path
	source.Git.Interval, source.Interval, source.RetryInterval = day, day, &day
	return source
}

func write(t *testing.T, namespace string, sources ...gitopsv1.Source) {
	t.Helper()
	harness.Write(t, cluster.Client, namespace, sources...)
}

// push commits, and has the operator look at once.
func push(t *testing.T, namespace string, repository *gitserver.Repository, files map[string]string, removed ...string) string {
	t.Helper()
	commit := harness.Commit(t, repository, files, removed...)
	harness.Request(t, cluster.Client, namespace)
	return commit
}

// awaitSource waits for the state of one source: a part of its reason or message.
func awaitSource(t *testing.T, namespace, source string, ready metav1.ConditionStatus, part string) gitopsv1.SourceStatus {
	t.Helper()
	var found gitopsv1.SourceStatus
	harness.Await(t, fmt.Sprintf("source %s of %s to be %s with %q", source, namespace, ready, part), func(ctx context.Context) (bool, string) {
		tenant := &gitopsv1.TenantGitOps{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			return false, err.Error()
		}
		for _, status := range tenant.Status.Sources {
			if status.Name == source {
				found = status
				text := fmt.Sprintf("%s: %s: %s", status.Ready, status.Reason, status.Message)
				return tenant.Status.ObservedGeneration == tenant.Generation && status.Ready == ready && strings.Contains(text, part), text
			}
		}
		return false, "no such source in the status"
	})
	return found
}

func awaitApplied(t *testing.T, namespace, source, commit string) gitopsv1.SourceStatus {
	t.Helper()
	return awaitSource(t, namespace, source, metav1.ConditionTrue, commit)
}

// awaitBlocked waits until a commit is blocked, for that many of so many applications.
func awaitBlocked(t *testing.T, namespace, source, commit string, pruned, of int64) gitopsv1.SourceStatus {
	t.Helper()
	status := awaitSource(t, namespace, source, metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked+": main@sha1:"+commit)
	if status.Prune == nil || status.Prune.Revision != "main@sha1:"+commit || status.Prune.Applications != pruned || status.Prune.Of != of {
		t.Errorf("the status says of the prune %+v, want %d of %d", status.Prune, pruned, of)
	}
	return status
}

// confirm sets confirmPrune of a source.
func confirm(t *testing.T, namespace string, source gitopsv1.Source, revision string) {
	t.Helper()
	source.ConfirmPrune = revision
	write(t, namespace, source)
}

// applications are the UIDs of the tenant's applications that nobody deletes, by name.
func applications(t *testing.T, namespace string) map[string]types.UID {
	t.Helper()
	found := map[string]types.UID{}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: fixtures.Group, Version: fixtures.Version, Kind: "RedisList"})
	if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	for _, application := range list.Items {
		if application.GetDeletionTimestamp() == nil {
			found[application.GetName()] = application.GetUID()
		}
	}
	return found
}

// awaitApplications waits until a namespace has so many applications.
func awaitApplications(t *testing.T, namespace string, count int) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("%d applications in %s", count, namespace), func(context.Context) (bool, string) {
		found := applications(t, namespace)
		return len(found) == count, fmt.Sprint(found)
	})
}

// deletions are the answers that a tenant's git account got when it deleted applications,
// counted by code.
func deletions(t *testing.T, namespace string, since time.Time) map[int32]int {
	t.Helper()
	codes := map[int32]int{}
	for _, write := range attempts(t, namespace, since) {
		codes[write.Code]++
	}
	return codes
}

// held is the time from the first deletion that was refused to the first that was not.
func held(t *testing.T, namespace string, since time.Time) time.Duration {
	t.Helper()
	var refused time.Time
	for _, write := range attempts(t, namespace, since) {
		switch {
		case write.Code == http.StatusForbidden && refused.IsZero():
			refused = write.Time
		case write.Code == http.StatusOK:
			return write.Time.Sub(refused)
		}
	}
	t.Error("nothing was deleted")
	return 0
}

// attempts are the deletions of applications that a tenant's git account asked for.
func attempts(t *testing.T, namespace string, since time.Time) []embedded.Write {
	t.Helper()
	account := fmt.Sprintf("system:serviceaccount:%s:%s", namespace, names.GitAccount(namespace))
	writes, err := cluster.Writes(since, func(w embedded.Write) bool {
		return w.Verb == "delete" && w.Group == stamp.ApplicationsGroup && w.User == account
	})
	if err != nil {
		t.Fatal(err)
	}
	return writes
}

// kustomization reads that of a source.
func kustomization(t *testing.T, namespace, source string) *kustomizev1.Kustomization {
	t.Helper()
	found := &kustomizev1.Kustomization{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: names.FluxObject(source)}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// wantNoGrant waits until the steady state is reached: nothing is granted any more.
func wantNoGrant(t *testing.T, namespace, source string) {
	t.Helper()
	harness.Await(t, "the grant to go", func(context.Context) (bool, string) {
		grant := kustomization(t, namespace, source).Annotations[stamp.PruneGrantedAnnotation]
		return grant == "", grant
	})
}

// fetchNow asks source-controller itself for news.
func fetchNow(t *testing.T, namespace, source string) {
	t.Helper()
	repository := &sourcev1.GitRepository{}
	repository.Namespace, repository.Name = namespace, names.FluxObject(source)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	if err := cluster.Client.Patch(t.Context(), repository, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}
