package pruneguard_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestEmptiedBranchDeletesNothingUntilConfirmed takes every file out of a repository of
// ten applications.
func TestEmptiedBranchDeletesNothingUntilConfirmed(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-emptied"
	repository, commit := newTenant(t, namespace, manifests("apps", 10))
	source := folder(t, namespace, "apps", repository)
	source.Path = "./"
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	before, start := applications(t, namespace), time.Now()

	emptied := push(t, namespace, repository, nil, filesOf("apps", 0, 10)...)
	status := awaitBlocked(t, namespace, "apps", emptied, 10, 10)
	for _, part := range []string{`confirmPrune: "main@sha1:` + emptied + `" in source apps`, "10 of 10", "Redis/tenant-emptied/apps-09", "revert"} {
		if !strings.Contains(status.Message, part) {
			t.Errorf("the message lacks %q: %s", part, status.Message)
		}
	}
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked)

	// Another attempt of Flux changes nothing, and is no news.
	states := follow(t, namespace, "apps")
	harness.Request(t, cluster.Client, namespace)
	awaitRefusals(t, namespace, start, 20)
	awaitBlocked(t, namespace, "apps", emptied, 10, 10)
	for _, state := range states() {
		if state != "False "+gitopsv1.ReasonPruneBlocked {
			t.Errorf("while it was blocked the source was %s", state)
		}
	}
	wantEvents(t, namespace, 1)

	// The confirmation of another revision says nothing.
	confirm(t, namespace, source, "main@sha1:"+commit)
	harness.Request(t, cluster.Client, namespace)
	awaitRefusals(t, namespace, start, 30)
	awaitBlocked(t, namespace, "apps", emptied, 10, 10)
	if after := applications(t, namespace); !maps.Equal(before, after) {
		t.Errorf("the applications are others than before: %v, were %v", after, before)
	}
	if codes := deletions(t, namespace, start); codes[http.StatusOK] != 0 {
		t.Errorf("something was deleted: %v", codes)
	}
	wantNoGrant(t, namespace, "apps")

	confirm(t, namespace, source, "main@sha1:"+emptied)
	awaitApplications(t, namespace, 0)
	status = awaitApplied(t, namespace, "apps", emptied)
	if status.Prune != nil || status.ConfirmedPrune != "main@sha1:"+emptied || status.Applications != 0 {
		t.Errorf("after the prune the status says %+v", status)
	}
	wantNoGrant(t, namespace, "apps")
}

// awaitRefusals waits until so many deletions have been refused, and Flux has reported it.
func awaitRefusals(t *testing.T, namespace string, since time.Time, count int) {
	t.Helper()
	harness.Await(t, "another attempt", func(context.Context) (bool, string) {
		codes := deletions(t, namespace, since)
		ready := apimeta.FindStatusCondition(kustomization(t, namespace, "apps").Status.Conditions, meta.ReadyCondition)
		return codes[http.StatusForbidden] >= count && ready.Reason == meta.PruneFailedReason, fmt.Sprint(codes, ready)
	})
}

// TestWrongPathDeletesNothing gives a source a path that holds something else, while the
// revision stays: back on the right one nothing has happened.
func TestWrongPathDeletesNothing(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-wrongpath"
	files := manifests("apps", 10)
	maps.Copy(files, manifests("docs", 1))
	repository, commit := newTenant(t, namespace, files)
	source := folder(t, namespace, "apps", repository)
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	before := applications(t, namespace)

	wrong := source
	wrong.Path = "docs"
	write(t, namespace, wrong)
	awaitBlocked(t, namespace, "apps", commit, 10, 10)
	if after := applications(t, namespace); len(after) != 11 {
		t.Errorf("there are %d applications, want all of both paths: %v", len(after), after)
	}

	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	// What the wrong path brought is one application of eleven.
	if after := applications(t, namespace); !maps.Equal(before, after) {
		t.Errorf("the applications are others than before: %v, were %v", after, before)
	}
	wantNoGrant(t, namespace, "apps")

	// A path that is not there deletes nothing either, and is Flux's own matter.
	wrong.Path = "missing"
	write(t, namespace, wrong)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, "ArtifactFailed")
	if after := applications(t, namespace); !maps.Equal(before, after) {
		t.Errorf("the applications are others than before: %v, were %v", after, before)
	}
}

// TestRenamedByAVariableIsBlocked: a substitution that renames everything deletes all of
// what was there.
func TestRenamedByAVariableIsBlocked(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-renamed"
	files := map[string]string{}
	for i := range 4 {
		files[file("apps", i)] = fixtures.Redis(fmt.Sprintf("${stage}-%d", i), 1)
	}
	repository, commit := newTenant(t, namespace, files)
	source := folder(t, namespace, "apps", repository)
	source.PostBuild = &gitopsv1.PostBuild{Substitute: map[string]string{"stage": "test"}}
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)

	source.PostBuild.Substitute["stage"] = "live"
	write(t, namespace, source)
	awaitBlocked(t, namespace, "apps", commit, 4, 4)
	awaitApplications(t, namespace, 8)
	confirm(t, namespace, source, "main@sha1:"+commit)
	awaitApplied(t, namespace, "apps", commit)
	awaitApplications(t, namespace, 4)
}

// TestRevertHealsWithoutConfirmation takes six of ten out and brings them back.
func TestRevertHealsWithoutConfirmation(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-reverted"
	files := manifests("apps", 10)
	repository, commit := newTenant(t, namespace, files)
	source := folder(t, namespace, "apps", repository)
	write(t, namespace, source)
	awaitApplied(t, namespace, "apps", commit)
	before, start := applications(t, namespace), time.Now()

	blocked := push(t, namespace, repository, nil, filesOf("apps", 0, 6)...)
	awaitBlocked(t, namespace, "apps", blocked, 6, 10)
	reverted := push(t, namespace, repository, files)
	status := awaitApplied(t, namespace, "apps", reverted)
	if status.Prune != nil || status.Applications != 10 {
		t.Errorf("after the revert the status says %+v", status)
	}
	if after := applications(t, namespace); !maps.Equal(before, after) {
		t.Errorf("the applications are others than before: %v, were %v", after, before)
	}
	if codes := deletions(t, namespace, start); codes[http.StatusOK] != 0 || codes[http.StatusForbidden] == 0 {
		t.Errorf("deletions were answered %v, want refusals only", codes)
	}
}

// wantEvents fails unless so many events tell of a blocked prune, repetitions included.
func wantEvents(t *testing.T, namespace string, count int) {
	t.Helper()
	var events eventsv1.EventList
	if err := cluster.Client.List(t.Context(), &events, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, event := range events.Items {
		if event.Regarding.Kind == "TenantGitOps" && event.Reason == gitopsv1.ReasonPruneBlocked {
			told++
			if event.Series != nil {
				told += int(event.Series.Count) - 1
			}
		}
	}
	if told != count {
		t.Errorf("%d events tell of the blocked prune, want %d", told, count)
	}
}
