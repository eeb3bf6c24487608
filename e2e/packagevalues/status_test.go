package packagevalues_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// awaitComponentState waits for what the status says of a component: a part of its reason
// or message.
func awaitComponentState(t *testing.T, name, component string, ready metav1.ConditionStatus, part string) cozyv1.ComponentStatus {
	t.Helper()
	var found cozyv1.ComponentStatus
	harness.Await(t, fmt.Sprintf("component %s of %s to be %s with %q", component, name, ready, part), func(ctx context.Context) (bool, string) {
		values := &cozyv1.PackageValues{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, values); err != nil {
			return false, err.Error()
		}
		at := slices.IndexFunc(values.Status.Components, func(c cozyv1.ComponentStatus) bool { return c.Name == component })
		if at < 0 || values.Status.ObservedGeneration != values.Generation {
			return false, "not told of"
		}
		found = values.Status.Components[at]
		said := fmt.Sprintf("%s: %s: %s", found.Ready, found.Reason, found.Message)
		return found.Ready == ready && strings.Contains(said, part), said
	})
	return found
}

// TestPackageThatComesLater and its source, which may come after it.
func TestPackageThatComesLater(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "later"
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionFalse, "PackageNotFound: there is no Package later")
	create(t, packageOf(t, name, map[string]string{"web": "{a: 1}"}))
	awaitState(t, name, metav1.ConditionFalse, "PackageSourceNotFound: there is no PackageSource later")
	create(t, sourceOf(t, name, "web"))
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	values := awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	if values.Status.Releases != "1/1" || values.Status.Overridden != 1 {
		t.Errorf("the status is %s", text(t, values.Status))
	}
	// Its variant is gone, and with it all that is known.
	patch(t, object(t, "Package", name, "{}"), "spec: {variant: other}")
	awaitState(t, name, metav1.ConditionFalse, "does not have the variant of the Package")
	patch(t, object(t, "Package", name, "{}"), "spec: {variant: default}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
}

// TestComponentThatThePackageLacks is told of, with those that it has; the others are
// overridden.
func TestComponentThatThePackageLacks(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "typo"
	newComponents(t, name, map[string]string{"grafana": "{a: 1}", "alerts": ""})
	overrideComponents(t, name, "{grafana: {values: {b: 2}}, grafna: {values: {b: 3}}}")
	awaitComponent(t, name, "grafana", "{a: 1, b: 2}")
	values := awaitState(t, name, metav1.ConditionTrue, "the Package has no component grafna: it has alerts, grafana")
	if values.Status.Releases != "1/1" {
		t.Errorf("releases %s, want 1/1", values.Status.Releases)
	}
	awaitComponentState(t, name, "grafna", metav1.ConditionFalse, "ComponentNotFound")
	awaitComponentState(t, name, "grafana", metav1.ConditionTrue, "Succeeded")
	overrideComponents(t, name, "{grafna: {values: {b: 3}}}")
	awaitState(t, name, metav1.ConditionFalse, "ComponentNotFound")
	awaitComponent(t, name, "grafana", "{a: 1}")
}

// TestComponentThatIsDisabled waits with its values until it is enabled.
func TestComponentThatIsDisabled(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "disabled"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	pkg := object(t, "Package", name, "{}")
	patch(t, pkg, "spec: {components: {web: {enabled: false}}}")
	harness.AwaitGone(t, cluster.Client, componentOf(name, "web"))
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponentState(t, name, "web", metav1.ConditionTrue, "ComponentNotInstalled")
	patch(t, pkg, "spec: {components: {web: {enabled: true}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitComponentState(t, name, "web", metav1.ConditionTrue, "Succeeded")
}

// TestListThatIsReplacedIsTold: one image in place of 16 is to be seen.
func TestListThatIsReplacedIsTold(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "images"
	var images []string
	for i := range 16 {
		images = append(images, fmt.Sprintf("image-%d", i))
	}
	newComponents(t, name, map[string]string{"web": "{images: [" + strings.Join(images, ", ") + "], same: [1]}"})
	overrideComponents(t, name, "{web: {values: {images: [mine], same: [1]}}}")
	told := awaitComponentState(t, name, "web", metav1.ConditionTrue, "Succeeded")
	if want := []cozyv1.ReplacedList{{Path: "images", Before: 16, After: 1}}; !reflect.DeepEqual(told.ReplacedLists, want) {
		t.Errorf("replaced lists %+v, want %+v", told.ReplacedLists, want)
	}
	if !reflect.DeepEqual(told.Shadowed, []string{"images"}) || !reflect.DeepEqual(told.Overridden, []string{"images", "same"}) {
		t.Errorf("shadowed %v, overridden %v", told.Shadowed, told.Overridden)
	}
	if want := `{"images":["mine"],"same":[1]}`; told.Values == nil || string(told.Values.Raw) != want {
		t.Errorf("values %s, want %s", text(t, told.Values), want)
	}
}

// TestWhatHasNoEffectIsTold of, and why.
func TestWhatHasNoEffectIsTold(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "idle"
	newComponents(t, name, map[string]string{"web": "{list: [1], text: x}"})
	overrideComponents(t, name, "{web: {values: {more: [2]}, unset: [list.first, text.deep, gone], listMerge: [{path: more, strategy: Append}, {path: none, strategy: Append}]}}")
	told := awaitComponentState(t, name, "web", metav1.ConditionTrue, "Succeeded")
	for _, part := range []string{"unset list.first: ", "unset text.deep: ", "listMerge more: ", "listMerge none: "} {
		if !slices.ContainsFunc(told.WithoutEffect, func(line string) bool { return strings.HasPrefix(line, part) }) {
			t.Errorf("without effect %q, want one that begins with %q", told.WithoutEffect, part)
		}
	}
	if len(told.WithoutEffect) != 4 {
		t.Errorf("without effect %q, want four", told.WithoutEffect)
	}
	wantComponent(t, name, "web", "{list: [1], text: x, more: [2], gone: null}")
}

// TestReleaseThatFails is told of until it is mended.
func TestReleaseThatFails(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "failing"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "fine": "{a: 1}"})
	overrideComponents(t, name, "{fine: {values: {b: 2}}, web: {values: {fail: no room for it}}}")
	values := awaitState(t, name, metav1.ConditionFalse, "ReleaseFailed: web: release cozy-failing/web failed: ")
	if ready := values.Status.Conditions[0].Message; !strings.Contains(ready, "no room for it") {
		t.Errorf("the condition says %q, not what Helm says", ready)
	}
	awaitComponentState(t, name, "fine", metav1.ConditionTrue, "Succeeded")
	if values := awaitState(t, name, metav1.ConditionFalse, "ReleaseFailed"); values.Status.Releases != "1/2" {
		t.Errorf("releases %s, want 1/2", values.Status.Releases)
	}
	overrideComponents(t, name, "{fine: {values: {b: 2}}, web: {values: {fail: null}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
}

// TestReleaseThatIsSuspended has the values; Helm waits.
func TestReleaseThatIsSuspended(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "paused"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	release := componentOf(name, "web")
	patch(t, release, "spec: {suspend: true}")
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponentState(t, name, "web", metav1.ConditionUnknown, "release cozy-paused/web has the values and is suspended")
	wantComponent(t, name, "web", "{a: 1, b: 2}")
	if suspended, _, err := unstructured.NestedBool(read(t, release).Object, "spec", "suspend"); err != nil || !suspended {
		t.Errorf("the release is suspended: %t, %v", suspended, err)
	}
	patch(t, release, "spec: {suspend: false}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
}

// TestPackageNamesItsPackageValues in one condition, which stays as it is until something
// about it changes, beside the platform's own.
func TestPackageNamesItsPackageValues(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "named"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "api": ""})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	first := awaitPackageCondition(t, name, "PackageValues named overrides values of web: ")
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 2}}}}")
	awaitComponent(t, name, "web", "{a: 2, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	if now := awaitPackageCondition(t, name, "PackageValues"); now != first {
		t.Errorf("the condition says %s, and said %s", now, first)
	}
	// The platform's own condition changes beside it.
	harness.Await(t, "the Package to be ready too", func(context.Context) (bool, string) {
		said := text(t, read(t, object(t, "Package", name, "{}")).Object["status"])
		return strings.Contains(said, `"type":"Ready"`) && strings.Contains(said, "ReconciliationSucceeded"), said
	})
	overrideComponents(t, name, "{web: {values: {b: 2}}, api: {values: {b: 2}}}")
	awaitPackageCondition(t, name, "PackageValues named overrides values of api, web: ")
	overrideSpec(t, name, "{suspend: true, components: {web: {values: {b: 2}}}}")
	awaitPackageCondition(t, name, "PackageValues named, which is suspended, holds the values of web")
	remove(t, object(t, "PackageValues", name, "{}"))
	awaitPackageCondition(t, name, "")
}

// read reads an object anew.
func read(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}
	return o
}
