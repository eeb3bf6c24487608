package packagevalues_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// plainValues are values of components that are easily lost or changed on the way.
var plainValues = map[string]string{
	"absent":  "",
	"empty":   "{}",
	"hollow":  "{map: {}, list: [], 'null': null, text: '', nested: {map: {}, list: [{}, [], null]}}",
	"numbers": `{big: 9007199254740993, float: 1.50, exponent: 1e3, small: 1e-7, zero: -0.0, text: "1"}`,
	"text":    `{escapes: "<&>\u2028", "dotted.key": "x", "back\\slash": "y"}`,
}

// TestWithoutPackageValuesAReleaseIsAsItWas: what the platform's operator has made of a
// Package is there again, to the last byte, when a PackageValues has come and gone.
func TestWithoutPackageValuesAReleaseIsAsItWas(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "plain"
	newComponents(t, name, plainValues)
	before := map[string]raw{}
	for component := range plainValues {
		seen, err := readRaw(t.Context(), name, component)
		if err != nil {
			t.Fatal(err)
		}
		before[component] = seen
	}
	if absent := before["absent"].Spec.Values; absent != nil {
		t.Fatalf("the release of no values has %s", absent)
	}
	wantPlain := func() {
		t.Helper()
		for component := range plainValues {
			awaitPlain(t, name, component, before[component])
		}
		awaitPackageCondition(t, name, "")
	}
	overrideAll := func() {
		t.Helper()
		var all []string
		for component := range plainValues {
			all = append(all, component+": {values: {more: {a: 1}}, unset: ['null', map]}")
		}
		overrideComponents(t, name, "{"+strings.Join(all, ", ")+"}")
		for component := range plainValues {
			harness.Await(t, component+" to be overridden", func(ctx context.Context) (bool, string) { return agrees(ctx, name, component) })
			seen, err := readRaw(t.Context(), name, component)
			if err != nil || !bytes.Contains(seen.Spec.Values, []byte(`"more":{"a":1}`)) {
				t.Fatalf("%s has %s, %v", component, seen.Spec.Values, err)
			}
		}
		awaitPackageCondition(t, name, "PackageValues "+name)
	}
	wantPlain()
	overrideAll()
	remove(t, object(t, "PackageValues", name, "{}"))
	wantPlain()

	// One component after the other is taken out of it.
	overrideAll()
	left := slices.Sorted(maps.Keys(plainValues))
	for _, component := range left[1:] {
		patch(t, object(t, "PackageValues", name, "{}"), "spec: {components: {"+component+": null}}")
		awaitPlain(t, name, component, before[component])
	}
	if agrees, seen := agrees(t.Context(), name, left[0]); !agrees {
		t.Error(seen)
	}

	// Somebody's finalizer holds it: it is deleted all the same.
	held := object(t, "PackageValues", name, "{}")
	patch(t, held, "metadata: {finalizers: [example.org/held]}")
	remove(t, held)
	wantPlain()
	patch(t, held, "metadata: {finalizers: null}")
	harness.AwaitGone(t, cluster.Client, held)
	wantPlain()
}

// awaitPlain waits until a release is as it was, without a trace of ours.
func awaitPlain(t *testing.T, name, component string, before raw) {
	t.Helper()
	harness.Await(t, component+" to be as it was", func(ctx context.Context) (bool, string) {
		seen, err := readRaw(ctx, name, component)
		return err == nil && bytes.Equal(seen.Spec.Values, before.Spec.Values) && len(seen.ours()) == 0,
			fmt.Sprintf("%s %v %v, want %s", seen.Spec.Values, seen.ours(), err, before.Spec.Values)
	})
}

// TestDeletedPackageTakesItsReleasesAlong: nothing of an override holds them.
func TestDeletedPackageTakesItsReleasesAlong(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "deleted"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {a: 2}}}")
	awaitComponent(t, name, "web", "{a: 2}")
	remove(t, object(t, "Package", name, "{}"))
	harness.AwaitGone(t, cluster.Client, componentOf(name, "web"))
	awaitState(t, name, "False", "PackageNotFound")
	create(t, packageOf(t, name, map[string]string{"web": "{a: 3, b: 1}"}))
	awaitComponent(t, name, "web", "{a: 2, b: 1}")
	awaitState(t, name, "True", "Succeeded")
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: name}, object(t, "PackageValues", name, "{}")); err != nil {
		t.Fatal(err)
	}
}
