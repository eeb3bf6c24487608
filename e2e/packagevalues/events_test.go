package packagevalues_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestRequestToReconcileIsAnswered, with nothing changed and nobody told.
func TestRequestToReconcileIsAnswered(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "requested"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	harness.Await(t, "an event", func(context.Context) (bool, string) {
		return len(eventsOf(t, name)) == 1, fmt.Sprint(eventsOf(t, name))
	})
	told := eventsOf(t, name)
	before := read(t, componentOf(name, "web")).GetResourceVersion()
	for range 3 {
		request(t, name)
	}
	if after := read(t, componentOf(name, "web")).GetResourceVersion(); after != before {
		t.Errorf("the release has version %s, and had %s", after, before)
	}
	if now := eventsOf(t, name); len(now) != len(told) {
		t.Errorf("events %q, and there were %q", now, told)
	}
}

// request asks the operator to look again, and waits until it has.
func request(t *testing.T, name string) {
	t.Helper()
	token := time.Now().Format(time.RFC3339Nano)
	patch(t, object(t, "PackageValues", name, "{}"), "metadata: {annotations: {reconcile.fluxcd.io/requestedAt: '"+token+"'}}")
	harness.Await(t, "the request to be handled", func(ctx context.Context) (bool, string) {
		values := &cozyv1.PackageValues{}
		err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, values)
		return err == nil && values.Status.LastHandledReconcileAt == token, fmt.Sprint(values.Status.LastHandledReconcileAt, err)
	})
}

// TestEachStateIsToldOnce: an event for each change of state, and none for no change.
func TestEachStateIsToldOnce(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "told"
	want := func(expected ...string) {
		t.Helper()
		harness.Await(t, fmt.Sprintf("the events %q", expected), func(context.Context) (bool, string) {
			return len(eventsOf(t, name)) >= len(expected), strings.Join(eventsOf(t, name), "\n")
		})
		for range 2 {
			request(t, name)
		}
		told := eventsOf(t, name)
		if len(told) != len(expected) {
			t.Fatalf("the events are %q, want %q", told, expected)
		}
		for i, prefix := range expected {
			if !strings.HasPrefix(told[i], prefix) {
				t.Errorf("event %d is %q, want one that begins with %q", i, told[i], prefix)
			}
		}
	}
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionFalse, "PackageNotFound")
	want("Warning PackageNotFound")
	// The source comes when the Package has been seen: of two that come at once either may be
	// seen first.
	create(t, packageOf(t, name, map[string]string{"web": "{a: 1}"}))
	awaitState(t, name, metav1.ConditionFalse, "PackageSourceNotFound")
	want("Warning PackageNotFound", "Warning PackageSourceNotFound")
	create(t, sourceOf(t, name, "web"))
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	told := []string{"Warning PackageNotFound", "Warning PackageSourceNotFound", "Normal Succeeded"}
	want(told...)
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 2}}}}")
	awaitComponent(t, name, "web", "{a: 2, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	want(told...)
	overrideComponents(t, name, "{web: {values: {fail: at once}}}")
	awaitState(t, name, metav1.ConditionFalse, "ReleaseFailed")
	want(append(told, "Warning ReleaseFailed")...)
	overrideComponents(t, name, "{web: {values: {b: 3}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	want(append(told, "Warning ReleaseFailed", "Normal Succeeded")...)
	overrideSpec(t, name, "{suspend: true, components: {web: {values: {b: 3}}}}")
	awaitState(t, name, metav1.ConditionTrue, "Suspended")
	want(append(told, "Warning ReleaseFailed", "Normal Succeeded", "Normal Suspended")...)
}

// eventsOf are the events of a PackageValues in order: type, reason and note. One that was
// told again is there again.
func eventsOf(t *testing.T, name string) []string {
	t.Helper()
	list := &eventsv1.EventList{}
	if err := cluster.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var of []eventsv1.Event
	for _, event := range list.Items {
		if event.Regarding.Kind == "PackageValues" && event.Regarding.Name == name {
			of = append(of, event)
		}
	}
	slices.SortFunc(of, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	var told []string
	for _, event := range of {
		line := fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note)
		told = append(told, line)
		if event.Series != nil {
			told = append(told, "again: "+line)
		}
	}
	return told
}
