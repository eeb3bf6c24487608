package override_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

func TestPlan(t *testing.T) {
	web := &cozyv1.ComponentValues{Values: json(`{"b":2}`)}
	const plainly, merged = `{"a":1}`, `{"a":1,"b":2}`
	with := func(r packages.Release, change func(*packages.Release)) packages.Release {
		change(&r)
		return r
	}
	wanted := func(r *packages.Release) { r.Annotations = map[string]string{packages.WantedAnnotation: "a"} }
	suspended := snapshotOf(plainly, web)
	suspended.Values.Spec.Suspend = true
	for _, c := range []struct {
		what     string
		snapshot override.Snapshot
		release  packages.Release
		// want is what the release is to be: "label", "no label", or nothing to be written.
		want string
	}{
		{"all as it should be", snapshotOf(plainly, web), release(t, "web", merged, true), ""},
		{"all as it should be, in another order of keys", snapshotOf(plainly, web), release(t, "web", `{"b":2.0,"a":1}`, true), ""},
		{"the annotation of a time before", snapshotOf(plainly, web), with(release(t, "web", merged, true), wanted), ""},
		{"no label", snapshotOf(plainly, web), release(t, "web", merged, false), "label"},
		{"another value of the label", snapshotOf(plainly, web), with(release(t, "web", merged, true), func(r *packages.Release) { r.Labels[packages.OverriddenLabel] = "no" }), "label"},
		{"the Package's values", snapshotOf(plainly, web), release(t, "web", plainly, true), "label"},
		{"no values", snapshotOf(plainly, web), release(t, "web", ``, true), "label"},
		{"not overridden", snapshotOf(plainly, nil), release(t, "web", plainly, false), ""},
		{"not overridden, whatever it has: that is the platform's", snapshotOf(plainly, nil), release(t, "web", `{"c":3}`, false), ""},
		{"not overridden any more", snapshotOf(plainly, nil), release(t, "web", merged, true), "no label"},
		{"not overridden any more, by a label with another value", snapshotOf(plainly, nil), with(release(t, "web", merged, true), func(r *packages.Release) { r.Labels[packages.OverriddenLabel] = "" }), "no label"},
		{"not overridden any more, of which the annotation is left", snapshotOf(plainly, nil), with(release(t, "web", plainly, false), wanted), "no label"},
		{"of a component that is not overridden", snapshotOf(plainly, web), release(t, "db", `{"c":3}`, false), ""},
		{"suspended", suspended, release(t, "web", plainly, true), ""},
		{"suspended before it was labelled", suspended, release(t, "web", plainly, false), ""},
		{"of no component", snapshotOf(plainly, web), release(t, "nobody", plainly, true), ""},
		{"that is being deleted", snapshotOf(plainly, web), with(release(t, "web", plainly, false), func(r *packages.Release) { r.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), ""},
		{"of the operator's own namespace", snapshotOf(plainly, web), with(release(t, "own", plainly, true), func(r *packages.Release) { r.Namespace = operatorNamespace }), ""},
		{"that cannot be answered for", snapshotOf(`[]`, web), release(t, "web", plainly, false), ""},
	} {
		writes := c.snapshot.Plan([]packages.Release{c.release}, operatorNamespace)
		switch c.want {
		case "":
			if len(writes) > 0 {
				t.Errorf("%s: %+v is to be written", c.what, writes)
			}
		case "label":
			if len(writes) != 1 || !writes[0].Overridden || writes[0].Digest != digest(t, merged) || writes[0].Release != key("web") ||
				!strings.HasPrefix(writes[0].Wanted, writes[0].Digest) {
				t.Errorf("%s: %+v", c.what, writes)
			}
		default:
			if len(writes) != 1 || writes[0].Overridden || writes[0].Wanted != "" || writes[0].Digest != digest(t, plainly) || writes[0].Release != key("web") {
				t.Errorf("%s: %+v", c.what, writes)
			}
		}
	}
}

// TestEachTryIsAnotherOne: the same annotation again would be no change, and nobody be asked.
func TestEachTryIsAnotherOne(t *testing.T) {
	snapshot := snapshotOf(``, &cozyv1.ComponentValues{Values: json(`{"b":2}`)})
	r := release(t, "web", `{}`, true)
	first := snapshot.Plan([]packages.Release{r}, operatorNamespace)
	same := snapshot.Plan([]packages.Release{r}, operatorNamespace)
	r.ResourceVersion = "8"
	next := snapshot.Plan([]packages.Release{r}, operatorNamespace)
	if first[0].Wanted != same[0].Wanted || first[0].Wanted == next[0].Wanted {
		t.Errorf("%q, %q, %q", first[0].Wanted, same[0].Wanted, next[0].Wanted)
	}
}

// TestPlanThatIsCarriedOutLeavesNothingToDo plans for random releases, and again for what
// comes of it.
func TestPlanThatIsCarriedOutLeavesNothingToDo(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	texts := []string{``, `{}`, `{"a":1}`, `{"a":-0.0,"c":[1,2]}`, `{"b":2}`, `[]`}
	planned := 0
	for range 3000 {
		var web *cozyv1.ComponentValues
		if random.IntN(4) > 0 {
			web = &cozyv1.ComponentValues{Values: json(texts[random.IntN(len(texts))])}
			if random.IntN(3) == 0 {
				web.Unset = []string{"c.d"}
			}
		}
		snapshot := snapshotOf(texts[random.IntN(len(texts))], web)
		if web != nil {
			snapshot.Values.Spec.Suspend = random.IntN(5) == 0
		}
		var releases []packages.Release
		for _, name := range []string{"web", "db", "off", "nobody"} {
			if random.IntN(3) > 0 {
				r := release(t, name, texts[random.IntN(len(texts))], random.IntN(2) == 0)
				if random.IntN(3) == 0 {
					r.Annotations = map[string]string{packages.WantedAnnotation: fmt.Sprint(random.Int())}
				}
				releases = append(releases, r)
			}
		}
		writes := snapshot.Plan(releases, operatorNamespace)
		planned += len(writes)
		carryOut(releases, writes)
		if left := snapshot.Plan(releases, operatorNamespace); len(left) > 0 {
			t.Fatalf("%+v is left of %+v", left, writes)
		}
	}
	if planned < 1000 {
		t.Errorf("only %d writes were planned", planned)
	}
}

// carryOut does what the operator and the webhook do.
func carryOut(releases []packages.Release, writes []override.Write) {
	for _, write := range writes {
		for i := range releases {
			r := &releases[i]
			if r.Namespace != write.Release.Namespace || r.Name != write.Release.Name {
				continue
			}
			r.Digest, r.ResourceVersion = write.Digest, r.ResourceVersion+"0"
			r.Labels, r.Annotations = map[string]string{packages.PackageLabel: "acme.shop"}, nil
			if write.Overridden {
				r.Labels[packages.OverriddenLabel] = packages.Overridden
				r.Annotations = map[string]string{packages.WantedAnnotation: write.Wanted}
			}
		}
	}
}
