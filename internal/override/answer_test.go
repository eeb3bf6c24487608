package override_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

func TestAnswerForARelease(t *testing.T) {
	web := &cozyv1.ComponentValues{Values: json(`{"b":2}`)}
	suspended := func(s override.Snapshot) override.Snapshot {
		s.Values.Spec.Suspend = true
		return s
	}
	without := func(change func(*override.Snapshot)) override.Snapshot {
		s := snapshotOf(`{"a":1}`, web)
		change(&s)
		return s
	}
	for _, c := range []struct {
		what     string
		snapshot override.Snapshot
		release  string
		stance   override.Stance
		values   string
	}{
		{"overridden", snapshotOf(`{"a":1}`, web), "web", override.Overridden, `{"a":1,"b":2}`},
		{"overridden where the Package has no values", snapshotOf(``, web), "web", override.Overridden, `{"b":2}`},
		{"an override that says nothing", snapshotOf(`{ "a":1 }`, &cozyv1.ComponentValues{}), "web", override.Overridden, `{ "a":1 }`},
		{"an override that says nothing, and no values", snapshotOf(``, &cozyv1.ComponentValues{}), "web", override.Overridden, ``},
		{"no PackageValues: byte by byte", snapshotOf(`{ "b" : 1e3,"a":1.0}`, nil), "web", override.Plain, `{ "b" : 1e3,"a":1.0}`},
		{"no PackageValues, and no values", snapshotOf(``, nil), "web", override.Plain, ``},
		{"another component is overridden", snapshotOf(`{"a":1}`, web), "db", override.Plain, ``},
		{"suspended", suspended(snapshotOf(`{"a":1}`, web)), "web", override.Frozen, ``},
		{"suspended, and another component", suspended(snapshotOf(`{"a":1}`, web)), "db", override.Plain, ``},
		{"suspended, and it could not be merged", suspended(snapshotOf(`[]`, web)), "web", override.Frozen, ``},
		{"of no component", snapshotOf(`{"a":1}`, web), "nobody", override.Unknown, ``},
		{"of a component that is disabled", snapshotOf(`{"a":1}`, web), "off", override.Unknown, ``},
		{"no Package", without(func(s *override.Snapshot) { s.Package = nil }), "web", override.Unknown, ``},
		{"no PackageSource", without(func(s *override.Snapshot) { s.Source = nil }), "web", override.Unknown, ``},
		{"a variant that is not there", without(func(s *override.Snapshot) { s.Package.Spec.Variant = "large" }), "web", override.Unknown, ``},
	} {
		answer, err := c.snapshot.ForRelease(key(c.release))
		if err != nil || answer.Stance != c.stance || string(answer.Values) != c.values {
			t.Errorf("%s: %v with %s (%v), want %v with %s", c.what, answer.Stance, answer.Values, err, c.stance, c.values)
		}
		if (answer.Values == nil) != (c.values == "") {
			t.Errorf("%s: no values are %#v", c.what, answer.Values)
		}
		// Asked again, with what it had before or something else in the releases, it says the same.
		again, err := c.snapshot.ForRelease(key(c.release))
		if err != nil || again.Stance != answer.Stance || string(again.Values) != string(answer.Values) {
			t.Errorf("%s: asked again, it says %v with %s (%v)", c.what, again.Stance, again.Values, err)
		}
	}
	if answer, err := snapshotOf(`{"a":1}`, web).ForRelease(types.NamespacedName{Namespace: "cozy-other", Name: "web"}); err != nil || answer.Stance != override.Unknown {
		t.Errorf("a release of that name in another namespace: %+v, %v", answer, err)
	}
}

func TestAnswerThatCannotBeMadeIsAnError(t *testing.T) {
	for what, c := range map[string]struct {
		values string
		web    cozyv1.ComponentValues
		want   string
	}{
		"the Package's values": {`[]`, cozyv1.ComponentValues{}, "component web of Package acme.shop: cannot read the Package's values"},
		"the override's":       {`{}`, cozyv1.ComponentValues{Values: json(`{"a":1,"a":2}`)}, "component web of PackageValues acme.shop: "},
		"both, by key": {`{"a":[{"n":1},{}]}`, cozyv1.ComponentValues{Values: json(`{"a":[{"n":1}]}`), ListMerge: []cozyv1.ListMerge{
			{Path: "a", Strategy: cozyv1.ListMergeByKey, Key: "n"},
		}}, "item [1] of the Package's list"},
	} {
		snapshot := snapshotOf(c.values, &c.web)
		answer, err := snapshot.ForRelease(key("web"))
		if err == nil || !strings.Contains(err.Error(), c.want) || answer.Stance != override.Unknown || answer.Values != nil {
			t.Errorf("%s: %+v, %v", what, answer, err)
		}
		if answer, err := snapshot.ForRelease(key("db")); err != nil || answer.Stance != override.Plain {
			t.Errorf("%s: another component is %+v, %v", what, answer, err)
		}
	}
}

// TestAnswersShareNoMemory changes an answer: what it is made of stays.
func TestAnswersShareNoMemory(t *testing.T) {
	snapshot := snapshotOf(`{"a":1}`, &cozyv1.ComponentValues{Values: json(`{"b":2}`)})
	answer, err := snapshot.ForRelease(key("web"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range answer.Values {
		answer.Values[i] = 'x'
	}
	if got := string(packages.ValuesOf(snapshot.Package, "web")) + string(snapshot.Values.Spec.Components["web"].Values.Raw); got != `{"a":1}{"b":2}` {
		t.Errorf("it is now %s", got)
	}
}
