package packagevalues_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/packages"
)

func withLabel(value string) string {
	return "metadata: {labels: {" + packages.OverriddenLabel + ": " + value + "}}"
}

// TestLabelOfAnOverriddenReleaseStays whoever writes what: it is there again in the same
// request, with the values.
func TestLabelOfAnOverriddenReleaseStays(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "label-kept"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	stored := func(after string) {
		t.Helper()
		seen, err := readRaw(t.Context(), name, "web")
		if err != nil {
			t.Fatal(err)
		}
		if string(seen.Spec.Values) != `{"a":1,"b":2}` || seen.Metadata.Labels[packages.OverriddenLabel] != packages.Overridden {
			t.Errorf("after %s: values %s, labels %v", after, seen.Spec.Values, seen.Metadata.Labels)
		}
	}
	release := componentOf(name, "web")
	for what, content := range map[string]string{
		"the label was taken off": withLabel("null"), "it has another value": withLabel("'no'"), "it is empty": withLabel("''"),
		"all labels were taken off":          "metadata: {labels: null}",
		"values were written":                "spec: {values: {x: y}}",
		"values and no label were written":   "{spec: {values: null}, " + withLabel("null") + "}",
		"another Package's label":            "{metadata: {labels: {" + packages.PackageLabel + ": other}}, spec: {values: {x: y}}}",
		"the Package's label was taken off":  "metadata: {labels: {" + packages.PackageLabel + ": null, " + packages.OverriddenLabel + ": null}}",
		"the annotation was taken off":       "metadata: {annotations: {" + packages.WantedAnnotation + ": null}}",
		"the annotation was somebody else's": "metadata: {annotations: {" + packages.WantedAnnotation + ": x}}",
	} {
		patch(t, release, content)
		stored(what)
	}
	// A copy of before, written as a whole.
	stale := read(t, componentOf(name, "web"))
	stale.SetOwnerReferences(nil)
	stale.SetLabels(map[string]string{packages.PackageLabel: name})
	stale.SetAnnotations(nil)
	stale.SetManagedFields(nil)
	stale.Object["spec"].(map[string]any)["values"] = map[string]any{"a": int64(1)}
	harness.Await(t, "a copy of before to be written", func(ctx context.Context) (bool, string) {
		stale.SetResourceVersion(read(t, componentOf(name, "web")).GetResourceVersion())
		err := cluster.Client.Update(ctx, stale.DeepCopy())
		return err == nil, fmt.Sprint(err)
	})
	stored("a copy of before was written")
	wantQuiet(t, name, "web")
}

// TestForgedLabelDoesNothing on a release without an override, on one of no Package, and on
// one of a Package that there is not.
func TestForgedLabelDoesNothing(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "label-forged"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "other": "{a: 1}"})
	for _, overridden := range []bool{false, true} {
		if overridden {
			overrideComponents(t, name, "{other: {values: {b: 2}}}")
			awaitState(t, name, metav1.ConditionTrue, "Succeeded")
		}
		for _, value := range []string{"'true'", "'no'", "''"} {
			patch(t, componentOf(name, "web"), withLabel(value))
			harness.Await(t, "the label "+value+" to be gone", func(ctx context.Context) (bool, string) { return agrees(ctx, name, "web") })
			wantComponent(t, name, "web", "{a: 1}")
		}
	}
	for of, labels := range map[string]string{
		"label-of-none":    "{" + packages.OverriddenLabel + ": 'true'}",
		"label-of-nothing": "{" + packages.OverriddenLabel + ": 'true', " + packages.PackageLabel + ": there-is-none}",
	} {
		release := componentOf(name, of)
		release.Object["metadata"].(map[string]any)["labels"] = fromYAML(t, labels)
		release.Object["spec"] = fromYAML(t, "{interval: 5m, chartRef: {kind: OCIRepository, name: x}, values: {x: 1}}")
		create(t, release)
		patch(t, release, "spec: {values: {x: 2}}")
		wantComponent(t, name, of, "{x: 2}")
		patch(t, release, withLabel("null"))
		remove(t, release)
	}
}

// TestPlatformsOperatorStartsAgain: it puts in its kinds by force, and writes every release.
func TestPlatformsOperatorStartsAgain(t *testing.T) {
	operator.AwaitReady(t)
	const name = "restarted"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	condition := awaitPackageCondition(t, name, "PackageValues restarted")
	for range 2 {
		before := read(t, componentOf(name, "web"))
		if err := cluster.StartPackageOperator(t.Context()); err != nil {
			t.Fatal(err)
		}
		harness.Await(t, "the release to be written by the new one", func(ctx context.Context) (bool, string) {
			now := helmUpdates(ctx, t, name, "web")
			return now.All() > 0, text(t, now)
		})
		if after := read(t, componentOf(name, "web")); after.GetGeneration() != before.GetGeneration() {
			t.Errorf("the release has generation %d, and had %d", after.GetGeneration(), before.GetGeneration())
		}
		wantComponent(t, name, "web", "{a: 1, b: 2}")
		if now := awaitPackageCondition(t, name, "PackageValues restarted"); now != condition {
			t.Errorf("the Package's condition is %s, and was %s", now, condition)
		}
	}
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 3}}}}")
	awaitComponent(t, name, "web", "{a: 3, b: 2}")
	wantQuiet(t, name, "web")
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: name}, object(t, "PackageValues", name, "{}")); err != nil {
		t.Error(err)
	}
}
