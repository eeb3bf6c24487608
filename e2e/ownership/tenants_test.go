package ownership_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/ownership"
)

// day is the longest interval there is: what goes on did not wait for Flux's next try.
var day = metav1.Duration{Duration: 24 * time.Hour}

// newTenant makes a tenant and a repository for it.
func newTenant(t *testing.T, namespace string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	harness.NewTenant(t, cluster.Client, namespace)
	return harness.NewRepository(t, git, namespace, files)
}

// folder is a source that applies one folder of a repository, by no interval.
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

// fetch asks for the repository of one source alone, as `flux reconcile source` would.
func fetch(t *testing.T, namespace, source string) {
	t.Helper()
	repository := &sourcev1.GitRepository{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: names.FluxObject(source)}, repository); err != nil {
		t.Fatal(err)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":%q}}}`, time.Now().Format(time.RFC3339Nano))
	if err := cluster.Client.Patch(t.Context(), repository, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
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
		var seen []string
		for _, status := range tenant.Status.Sources {
			text := fmt.Sprintf("%s: %s: %s: %s", status.Name, status.Ready, status.Reason, status.Message)
			seen = append(seen, text)
			if status.Name == source && tenant.Status.ObservedGeneration == tenant.Generation && status.Ready == ready && strings.Contains(text, part) {
				found = status
				return true, text
			}
		}
		return false, strings.Join(seen, "; ")
	})
	return found
}

func awaitApplied(t *testing.T, namespace, source, commit string) {
	t.Helper()
	awaitSource(t, namespace, source, metav1.ConditionTrue, commit)
}

// redis reads a cache.
func redis(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object := fixtures.Application("Redis", namespace, name)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// wantSame fails unless an application is the one that it was, with an owner's labels.
func wantSame(t *testing.T, was *unstructured.Unstructured, owner string) {
	t.Helper()
	is := redis(t, was.GetNamespace(), was.GetName())
	if is.GetUID() != was.GetUID() || !is.GetCreationTimestamp().Time.Equal(was.GetCreationTimestamp().Time) || is.GetDeletionTimestamp() != nil {
		t.Errorf("%s is another than before: %s of %s, was %s of %s", is.GetName(), is.GetUID(), is.GetCreationTimestamp(), was.GetUID(), was.GetCreationTimestamp())
	}
	key, _ := ownership.Owner(is.GetLabels())
	if key.String() != owner {
		t.Errorf("%s has the labels of %q, want %q", is.GetName(), key, owner)
	}
}

// awaitFree waits until an application has no owner's labels.
func awaitFree(t *testing.T, was *unstructured.Unstructured) {
	t.Helper()
	harness.Await(t, "no owner's labels on "+was.GetName(), func(ctx context.Context) (bool, string) {
		is := fixtures.Application(was.GetKind(), was.GetNamespace(), was.GetName())
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(is), is)
		_, byName := is.GetLabels()[ownership.NameLabel]
		_, byNamespace := is.GetLabels()[ownership.NamespaceLabel]
		return err == nil && !byName && !byNamespace && is.GetUID() == was.GetUID(), fmt.Sprint(err, is.GetLabels(), is.GetUID(), was.GetUID())
	})
}

// events counts the events of a reason on a tenant's source, repetitions included.
func events(t *testing.T, namespace, source, reason string) int {
	t.Helper()
	var list eventsv1.EventList
	if err := cluster.Client.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, event := range list.Items {
		if event.Regarding.Kind == "TenantGitOps" && event.Reason == reason && strings.HasPrefix(event.Note, "source "+source+":") {
			told++
			if event.Series != nil {
				told += int(event.Series.Count) - 1
			}
		}
	}
	return told
}
