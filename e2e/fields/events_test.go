package fields_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestEvents goes through changes of state, each of which is told by one event, and
// through repetitions, which are told by none.
func TestEvents(t *testing.T) {
	namespace := newTenant(t, "tenant-events")
	repository, first := newRepository(t, "acme/events", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	source := fromGit(t, namespace, "apps", repository)
	source.Path = "missing"
	source.RetryInterval = duration(10 * time.Second)
	source.Git.SecretRef = secretRef(loginSecret)
	write(t, namespace, source)
	told := &told{t: t, namespace: namespace}

	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound)
	told.want("Warning", gitopsv1.ReasonSecretNotFound, loginSecret)

	harness.WriteSecret(t, cluster.Client, namespace, loginSecret, map[string]string{"ca.crt": git.CertificateAuthority})
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, "ArtifactFailed")
	told.want("Warning", "ArtifactFailed", "kustomization path not found")
	awaitAnotherAttempt(t, namespace)
	told.wantNothing()

	source.Path = "./"
	write(t, namespace, source)
	awaitSourceApplied(t, namespace, "apps", first)
	told.want("Normal", gitopsv1.ReasonSucceeded, first)
	harness.Request(t, cluster.Client, namespace)
	awaitHandled(t, namespace)
	awaitAnotherAttempt(t, namespace)
	told.wantNothing()

	second := harness.Commit(t, repository, map[string]string{"app.yaml": fixtures.Redis("app", 2)})
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "apps", second)
	told.want("Normal", gitopsv1.ReasonSucceeded, second)

	suspend(t, namespace, true)
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, gitopsv1.ReasonSuspended)
	told.want("Normal", gitopsv1.ReasonSuspended, "")
	suspend(t, namespace, false)
	awaitSourceApplied(t, namespace, "apps", second)
	told.want("Normal", gitopsv1.ReasonSucceeded, second)
}

// TestEventsOfSeveralSources tells of each source, though all change at the same time.
func TestEventsOfSeveralSources(t *testing.T) {
	namespace := newTenant(t, "tenant-eventsofseveral")
	repository, _ := newRepository(t, "acme/events-of-several", nil)
	var sources []gitopsv1.Source
	for _, name := range []string{"one", "two", "three"} {
		source := fromGit(t, namespace, name, repository)
		source.Git.SecretRef = secretRef(name + ".gitops")
		sources = append(sources, source)
	}
	write(t, namespace, sources...)
	told := &told{t: t, namespace: namespace}
	harness.Await(t, "three events", func(context.Context) (bool, string) {
		fresh := told.fresh()
		return len(fresh) >= len(sources), strings.Join(fresh, "\n")
	})
	for _, source := range sources {
		if fresh := told.fresh(); !slices.ContainsFunc(fresh, func(line string) bool {
			return strings.HasPrefix(line, "Warning "+gitopsv1.ReasonSecretNotFound+": source "+source.Name+": ")
		}) {
			t.Errorf("no event tells of source %s:\n%s", source.Name, strings.Join(fresh, "\n"))
		}
	}
}

// TestEventsOfFailingFetch tells once of a commit that nobody signed, however often it is
// fetched.
func TestEventsOfFailingFetch(t *testing.T) {
	namespace := newTenant(t, "tenant-eventsoffetch")
	repository, _ := newRepository(t, "acme/events-of-fetch", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	harness.WriteSecret(t, cluster.Client, namespace, "authors.gitops", map[string]string{"author.asc": newSigner(t, "Author").publicKey(t)})
	source := fromGit(t, namespace, "apps", repository)
	source.Git.Verify = &sourcev1.GitRepositoryVerification{Mode: sourcev1.ModeGitHEAD, SecretRef: *secretRef("authors.gitops")}
	write(t, namespace, source)
	told := &told{t: t, namespace: namespace}
	told.want("Warning", "InvalidCommitSignature", "authors.gitops")
	for range 2 {
		awaitAnotherFetch(t, namespace)
	}
	told.wantNothing()
}

// awaitAnotherFetch asks Flux to fetch once more, and waits until that has come to an end.
func awaitAnotherFetch(t *testing.T, namespace string) {
	t.Helper()
	harness.Request(t, cluster.Client, namespace)
	awaitHandled(t, namespace)
	harness.Await(t, "another attempt to fetch", func(context.Context) (bool, string) {
		fetched := gitRepository(t, namespace, "apps")
		asked := fetched.Annotations[meta.ReconcileRequestAnnotation]
		return asked != "" && fetched.Status.LastHandledReconcileAt == asked, fmt.Sprintf("%+v", fetched.Status.Conditions)
	})
}

// awaitAnotherAttempt asks Flux to fetch and apply once more, and waits until that has
// come to an end.
func awaitAnotherAttempt(t *testing.T, namespace string) {
	t.Helper()
	awaitAnotherFetch(t, namespace)
	harness.Await(t, "another attempt to apply", func(context.Context) (bool, string) {
		applied := kustomization(t, namespace, "apps")
		return applied.Status.LastHandledReconcileAt == applied.Annotations[meta.ReconcileRequestAnnotation], fmt.Sprintf("%+v", applied.Status.Conditions)
	})
}

// told follows the events on a TenantGitOps.
type told struct {
	t         *testing.T
	namespace string
	seen      []string
}

// want waits for exactly one event that is new.
func (e *told) want(kind, reason, part string) {
	e.t.Helper()
	var fresh []string
	harness.Await(e.t, "an event "+reason, func(context.Context) (bool, string) {
		fresh = e.fresh()
		return len(fresh) > 0, "none"
	})
	e.seen = append(e.seen, fresh...)
	if len(fresh) != 1 || !strings.HasPrefix(fresh[0], kind+" "+reason+": ") || !strings.Contains(fresh[0], part) {
		e.t.Errorf("the new events are\n%s\nwant one, %s %s with %q", strings.Join(fresh, "\n"), kind, reason, part)
	}
}

func (e *told) wantNothing() {
	e.t.Helper()
	if fresh := e.fresh(); len(fresh) > 0 {
		e.t.Errorf("nothing has changed, and events tell\n%s", strings.Join(fresh, "\n"))
		e.seen = append(e.seen, fresh...)
	}
}

// fresh are the events that have not been seen yet.
func (e *told) fresh() []string {
	e.t.Helper()
	var list eventsv1.EventList
	if err := cluster.Client.List(e.t.Context(), &list, client.InNamespace(e.namespace)); err != nil {
		e.t.Fatal(err)
	}
	var all []string
	for _, event := range list.Items {
		if event.Regarding.Kind != gitopsv1.TenantGitOpsKind || event.Reason == "KeyGenerated" {
			continue
		}
		if event.Regarding.Name != gitopsv1.TenantGitOpsName || event.ReportingController != "gitops-operator" {
			e.t.Errorf("an event regards %+v and comes from %q", event.Regarding, event.ReportingController)
		}
		line := fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note)
		all = append(all, line)
		if event.Series != nil {
			// What was told again within minutes is no event of its own.
			all = append(all, line+" (repeated)")
		}
	}
	for _, line := range e.seen {
		if at := slices.Index(all, line); at >= 0 {
			all = slices.Delete(all, at, at+1)
		}
	}
	return all
}
