package override_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// seenOf has the override of one component, and releases.
func seenOf(values, component string, with cozyv1.ComponentValues, releases ...packages.Release) override.Seen {
	seen := override.Seen{Snapshot: snapshotOf(values, nil), Releases: releases, Refused: map[types.NamespacedName]string{}, OperatorNamespace: operatorNamespace}
	seen.Values = overriding(map[string]cozyv1.ComponentValues{component: with})
	return seen
}

func TestReasonOfEachComponent(t *testing.T) {
	b2 := cozyv1.ComponentValues{Values: json(`{"b":2}`)}
	const merged = `{"a":1,"b":2}`
	web := func(change func(*override.Seen, *packages.Release)) override.Seen {
		seen := seenOf(`{"a":1}`, "web", b2, release(t, "web", merged, true))
		change(&seen, &seen.Releases[0])
		return seen
	}
	condition := func(r *packages.Release, status metav1.ConditionStatus, reason, message string) {
		r.Status.Conditions[0].Status, r.Status.Conditions[0].Reason, r.Status.Conditions[0].Message = status, reason, message
	}
	for _, c := range []struct {
		what   string
		seen   override.Seen
		ready  metav1.ConditionStatus
		reason string
		words  string
	}{
		{"applied", web(func(*override.Seen, *packages.Release) {}), "True", cozyv1.ReasonSucceeded, "release cozy-acme/web"},
		{"not merged", seenOf(`[]`, "web", b2), "False", cozyv1.ReasonInvalidValues, "cannot read the Package's values"},
		{"no such component", seenOf(``, "wbe", b2), "False", cozyv1.ReasonComponentNotFound, "it has db, library, off, own, web"},
		{"a library", seenOf(``, "library", b2), "True", cozyv1.ReasonComponentNotInstalled, "has no release"},
		{"disabled", seenOf(``, "off", b2), "True", cozyv1.ReasonComponentNotInstalled, "disabled"},
		{"the operator's", seenOf(``, "own", b2), "False", cozyv1.ReasonOperatorsOwn, "set the values in the Package"},
		{"no release yet", seenOf(``, "web", b2), "Unknown", cozyv1.ReasonReleaseNotFound, "release cozy-acme/web is not made yet"},
		{"of that name elsewhere", web(func(_ *override.Seen, r *packages.Release) { r.Namespace = "cozy-other" }), "Unknown", cozyv1.ReasonReleaseNotFound, ""},
		{"suspended", web(func(s *override.Seen, r *packages.Release) { s.Values.Spec.Suspend, r.Digest = true, "sha256:a" }), "True", cozyv1.ReasonSuspended, "keeps what it has"},
		{"refused", web(func(s *override.Seen, _ *packages.Release) { s.Refused[key("web")] = "no\n\troom" }), "False", cozyv1.ReasonNotStored, "no; room"},
		{"other values", web(func(_ *override.Seen, r *packages.Release) { r.Digest = "" }), "Unknown", cozyv1.ReasonProgressing, "is being written"},
		{"no label", web(func(_ *override.Seen, r *packages.Release) { delete(r.Labels, packages.OverriddenLabel) }), "Unknown", cozyv1.ReasonProgressing, "is being written"},
		{"a release that is suspended", web(func(_ *override.Seen, r *packages.Release) { r.Spec.Suspend = true }), "Unknown", cozyv1.ReasonProgressing, "when it is resumed"},
		{"failed", web(func(_ *override.Seen, r *packages.Release) {
			condition(r, "False", "UpgradeFailed", "the disk is full")
		}), "False", cozyv1.ReasonReleaseFailed, "the disk is full"},
		{"on its way", web(func(_ *override.Seen, r *packages.Release) { condition(r, "Unknown", "Progressing", "") }), "Unknown", cozyv1.ReasonProgressing, "not applied them yet"},
		{"ready with what it was", web(func(_ *override.Seen, r *packages.Release) { r.Generation = 3 }), "Unknown", cozyv1.ReasonProgressing, "not applied them yet"},
		{"ready, and not observed", web(func(_ *override.Seen, r *packages.Release) {
			r.Generation, r.Status.Conditions[0].ObservedGeneration = 3, 0
		}), "Unknown", cozyv1.ReasonProgressing, "not applied them yet"},
	} {
		got := c.seen.Components()
		if len(got) != 1 || got[0].Ready != c.ready || got[0].Reason != c.reason || !strings.Contains(got[0].Message, c.words) {
			t.Errorf("%s: %+v, want %s, %s, %q", c.what, got, c.ready, c.reason, c.words)
		}
	}
}

func TestWhatTheOverrideDoesIsTold(t *testing.T) {
	seen := seenOf(`{"a":1,"list":[1,2,3],"text":"x"}`, "web", cozyv1.ComponentValues{
		Values: json(`{"a":2,"list":[4],"new":{"b":null}}`), Unset: []string{"gone", "text.deep"},
		ListMerge: []cozyv1.ListMerge{{Path: "nothing", Strategy: cozyv1.ListAppend}},
	}, release(t, "web", ``, true))
	got := seen.Components()[0]
	const merged = `{"a":2,"list":[4],"text":"x","new":{"b":null},"gone":null}`
	if got.Values == nil || string(got.Values.Raw) != merged || got.Digest != digest(t, merged) || got.Release != "cozy-acme/web" {
		t.Errorf("%+v, with %s", got, got.Values)
	}
	if want := []string{"a", "gone", "list", "new.b"}; !reflect.DeepEqual(got.Overridden, want) || got.OverriddenCount != 4 {
		t.Errorf("overridden: %q, %d", got.Overridden, got.OverriddenCount)
	}
	if want := []string{"a", "list"}; !reflect.DeepEqual(got.Shadowed, want) {
		t.Errorf("shadowed: %q", got.Shadowed)
	}
	if want := []cozyv1.ReplacedList{{Path: "list", Before: 3, After: 1}}; !reflect.DeepEqual(got.ReplacedLists, want) {
		t.Errorf("replaced: %+v", got.ReplacedLists)
	}
	if len(got.WithoutEffect) != 2 || !strings.HasPrefix(got.WithoutEffect[0], "listMerge nothing: ") || !strings.HasPrefix(got.WithoutEffect[1], "unset text.deep: ") {
		t.Errorf("without effect: %q", got.WithoutEffect)
	}
}

func TestComponentsAreInOrder(t *testing.T) {
	seen := seenOf(``, "web", cozyv1.ComponentValues{})
	for _, name := range []string{"db", "own", "aaa"} {
		seen.Values.Spec.Components[name] = cozyv1.ComponentValues{}
	}
	var names []string
	for _, component := range seen.Components() {
		names = append(names, component.Name)
	}
	if fmt.Sprint(names) != "[aaa db own web]" {
		t.Error(names)
	}
}
