package packagevalues_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestPlatformChangesWhatAComponentIs: its name, its release's name and the Package's variant
// change under an override, and then back.
func TestPlatformChangesWhatAComponentIs(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "renamed"
	components := func(variant, component, release string) {
		t.Helper()
		patch(t, object(t, "PackageSource", name, "{}"), fmt.Sprintf(
			"spec: {variants: [{name: %s, components: [{name: %s, path: web, install: {namespace: cozy-renamed, releaseName: %s}}]}]}", variant, component, release))
	}
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")

	// Another component has the release now, of which the Package has no values.
	components("default", "front", "web")
	awaitState(t, name, metav1.ConditionFalse, "ComponentNotFound: web: the Package has no component web: it has front")
	awaitPlain(t, name, "web", raw{})
	components("default", "web", "web")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")

	// The component has another release.
	components("default", "web", "shop")
	awaitComponent(t, name, "shop", "{a: 1, b: 2}")
	harness.AwaitGone(t, cluster.Client, componentOf(name, "web"))
	if told := awaitComponentState(t, name, "web", metav1.ConditionTrue, "release cozy-renamed/shop"); told.Release != "cozy-renamed/shop" {
		t.Errorf("the status names release %s", told.Release)
	}

	// The variant is gone, the override with it, and then another one is there.
	components("other", "web", "web")
	awaitState(t, name, metav1.ConditionFalse, "does not have the variant of the Package, so its components are not known: it has other")
	patch(t, object(t, "Package", name, "{}"), "spec: {variant: other}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	harness.AwaitGone(t, cluster.Client, componentOf(name, "shop"))
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")

	// Both names are the platform's again while nothing overrides them.
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {front: {values: {c: 1}}}}")
	components("other", "front", "web")
	remove(t, object(t, "PackageValues", name, "{}"))
	var plain raw
	plain.Spec.Values = []byte(`{"c":1}`)
	awaitPlain(t, name, "web", plain)
	awaitPackageCondition(t, name, "")
}

// TestPackageIsMadeAnewAtOnce, again and again: each of its releases has the override.
func TestPackageIsMadeAnewAtOnce(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "anew"
	newComponents(t, name, map[string]string{"web": "{a: 0}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 0, b: 2}")
	for i := range 5 {
		pkg := object(t, "Package", name, "{}")
		remove(t, pkg)
		harness.AwaitGone(t, cluster.Client, pkg)
		create(t, packageOf(t, name, map[string]string{"web": fmt.Sprintf("{a: %d}", i+1)}))
		awaitComponent(t, name, "web", fmt.Sprintf("{a: %d, b: 2}", i+1))
	}
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	awaitPackageCondition(t, name, "PackageValues "+name)
}
