package helmreleases

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

func TestSuspendedReleaseIsLeftAsItIs(t *testing.T) {
	namespace := newNamespace(t, "suspends")
	release := newRelease(t, namespace, "db", "values: {a: 1}")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	change(t, release, "spec: {suspend: true, values: {a: 2}}")
	awaitHandled(t, release, "while suspended")
	if a := valuesOf(t, release)["a"]; a != float64(1) {
		t.Errorf("a is %v, want 1: it is suspended", a)
	}
	change(t, release, "spec: {suspend: false}")
	awaitCondition(t, release, "Ready", "True", "UpgradeSucceeded")
	if a := valuesOf(t, release)["a"]; a != float64(2) {
		t.Errorf("a is %v, want 2", a)
	}
}

// awaitHandled asks for a reconciliation and waits for it.
func awaitHandled(t *testing.T, release *unstructured.Unstructured, token string) {
	t.Helper()
	change(t, release, fmt.Sprintf("metadata: {annotations: {reconcile.fluxcd.io/requestedAt: %q}}", token))
	harness.Await(t, "the request to be handled", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release); err != nil {
			return false, err.Error()
		}
		handled, _, err := unstructured.NestedString(release.Object, "status", "lastHandledReconcileAt")
		return handled == token, fmt.Sprintf("%s %v", handled, err)
	})
}

// What the values come from is changed without a word, so that each reconciliation
// would show: one that is asked for shows it, a change of labels does not.
func TestChangeOfMetadataAloneIsNotHeeded(t *testing.T) {
	namespace := newNamespace(t, "heeds")
	unwatched := newSecret(t, namespace, "unwatched", "values.yaml", "a: 1", nil)
	release := newRelease(t, namespace, "db", "valuesFrom: [{kind: Secret, name: unwatched}]")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	change(t, unwatched, "stringData: {values.yaml: 'a: 2'}")
	change(t, release, "metadata: {labels: {a: b}, annotations: {c: d}, finalizers: null}")
	// Another release that is made meanwhile shows that the controller is at work.
	other := newRelease(t, namespace, "other", "")
	awaitCondition(t, other, "Ready", "True", "InstallSucceeded")
	if a := valuesOf(t, release)["a"]; a != float64(1) {
		t.Errorf("a is %v, want 1: only metadata changed", a)
	}
	if finalizers := read(t, release).GetFinalizers(); len(finalizers) > 0 {
		t.Errorf("finalizers %v came back at a change of metadata", finalizers)
	}
	awaitHandled(t, release, "now")
	harness.Await(t, "the values of the Secret that nobody watches", func(ctx context.Context) (bool, string) {
		stored := &corev1.ConfigMap{}
		err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "db-values"}, stored)
		return err == nil && stored.Data["values.yaml"] != "" && valuesOf(t, release)["a"] == float64(2), fmt.Sprint(err, stored.Data)
	})
	if finalizers := read(t, release).GetFinalizers(); len(finalizers) != 1 {
		t.Errorf("finalizers %v, want it back", finalizers)
	}
}

func TestReleaseWaitsForWhatItDependsOn(t *testing.T) {
	namespace := newNamespace(t, "depends")
	release := newRelease(t, namespace, "second", "dependsOn: [{name: first}]")
	awaitCondition(t, release, "Ready", "False", "DependencyNotReady")
	newRelease(t, namespace, "first", "")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
}

func TestReleaseInStepIsNotWrittenTo(t *testing.T) {
	release := newRelease(t, newNamespace(t, "steady"), "db", "")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	awaitCondition(t, release, "Reconciling", "", "")
	for _, token := range []string{"one", "two"} {
		awaitHandled(t, release, token)
	}
	awaitCondition(t, release, "Reconciling", "", "")
	awaitHistory(t, release, "v1 deployed application@1.0.0;")
}
