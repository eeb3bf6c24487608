package health_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestFailureShowsWithoutWait: a failed release is the reason of a source that waits for
// nothing. Helm tries it again and again meanwhile, which is no news, and its recovery is.
func TestFailureShowsWithoutWait(t *testing.T) {
	namespace := newTenant(t, "tenant-nowait")
	repository, commit := newRepository(t, "acme/no-wait", map[string]string{
		"apps/db.yaml": database("db", ""), "apps/other.yaml": database("other", "quota exceeded"),
	})
	harness.Write(t, cluster.Client, namespace, fromGit(t, namespace, "apps", repository))

	awaitKustomization(t, namespace, "apps", "Ready", metav1.ConditionTrue, "Applied revision")
	awaitUnready(t, namespace, "apps", 1)
	failed := awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonApplicationFailed, "postgres other failed: ", "quota exceeded")
	if !strings.HasSuffix(failed.AppliedRevision, commit) {
		t.Errorf("%q is applied, want %s", failed.AppliedRevision, commit)
	}
	// The reader of the one line sees it too.
	before := harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, "quota exceeded")

	awaitAttempts(t, namespace, "other", 2)
	if after := harness.Read(t, cluster.Client, namespace); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the status was written while Helm only tried again: %+v", after.Status)
	}
	wantOneEvent(t, namespace)

	mended := harness.Commit(t, repository, map[string]string{"apps/other.yaml": database("other", "")})
	harness.Request(t, cluster.Client, namespace)
	awaitSource(t, namespace, "apps", metav1.ConditionTrue, gitopsv1.ReasonSucceeded, mended)
	awaitUnready(t, namespace, "apps", 0)
	wantUnread(t, namespace)
}

// awaitAttempts waits until Helm has tried so many times more to make a release.
func awaitAttempts(t *testing.T, namespace, name string, more int64) {
	t.Helper()
	first := int64(-1)
	harness.Await(t, "more attempts at the release of "+name, func(ctx context.Context) (bool, string) {
		release, err := releaseOf(ctx, namespace, name)
		if err != nil {
			return false, err.Error()
		}
		failures, _, err := unstructured.NestedInt64(release.Object, "status", "failures")
		if first < 0 {
			first = failures
		}
		return failures >= first+more, fmt.Sprintf("%d failures, %d at first, %v", failures, first, err)
	})
}

// wantOneEvent says that the failure was told once.
func wantOneEvent(t *testing.T, namespace string) {
	t.Helper()
	var list eventsv1.EventList
	if err := cluster.Client.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, event := range list.Items {
		if event.Reason != gitopsv1.ReasonApplicationFailed {
			continue
		}
		told = append(told, event.Note)
		if event.Series != nil {
			told = append(told, "again")
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "quota exceeded") {
		t.Errorf("the events are %q", told)
	}
}

// wantUnread says that the password in the values of releases is in nothing that the
// operator writes.
func wantUnread(t *testing.T, namespace string) {
	t.Helper()
	if strings.Contains(operatorLog.String(), password) {
		t.Error("the operator's log shows a password")
	}
	for _, list := range []client.ObjectList{&gitopsv1.TenantGitOpsList{}, &kustomizev1.KustomizationList{}, &eventsv1.EventList{}} {
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), password) {
			t.Errorf("a password is in a %T", list)
		}
	}
}

// TestInventoryShowsNoReleaseOfAnotherTenant: a tenant's controller writes inventories, and
// one that has been taken over could name what is another tenant's.
func TestInventoryShowsNoReleaseOfAnotherTenant(t *testing.T) {
	victim := newTenant(t, "tenant-victim")
	thief := harness.NewTenant(t, cluster.Client, "tenant-thief")
	repository, _ := newRepository(t, "acme/victim", map[string]string{"apps/db.yaml": database("db", "a secret plan failed")})
	harness.Write(t, cluster.Client, victim, fromGit(t, victim, "apps", repository))
	awaitSource(t, victim, "apps", metav1.ConditionFalse, "a secret plan failed")

	other, commit := newRepository(t, "acme/thief", map[string]string{"apps/own.yaml": database("own", "an own plan failed")})
	harness.Write(t, cluster.Client, thief, fromGit(t, thief, "apps", other))
	awaitSource(t, thief, "apps", metav1.ConditionFalse, "an own plan failed")
	k := awaitKustomization(t, thief, "apps", "Ready", metav1.ConditionTrue, commit)
	forged := k.DeepCopy()
	forged.Status.Inventory.Entries = append(forged.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: victim + "_db_apps.cozystack.io_Postgres", Version: "v1alpha1"})
	if err := cluster.Client.Status().Patch(t.Context(), forged, client.MergeFrom(k)); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the forged inventory to be read", func(context.Context) (bool, string) {
		source := harness.Read(t, cluster.Client, thief).Status.Sources[0]
		return source.Applications == 2, fmt.Sprintf("%d applications", source.Applications)
	})
	source := awaitSource(t, thief, "apps", metav1.ConditionFalse, "an own plan failed")
	if source.Unready != 1 || strings.Contains(source.Message, "a secret plan") {
		t.Errorf("the thief reads of %d: %s", source.Unready, source.Message)
	}
}
