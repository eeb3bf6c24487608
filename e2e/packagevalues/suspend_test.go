package packagevalues_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// TestSuspendedOverrideFreezesItsReleases: neither a change of the PackageValues nor one of
// the Package reaches them, and both do when it is resumed.
func TestSuspendedOverrideFreezesItsReleases(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "frozen"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "plain": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")

	overrideSpec(t, name, "{suspend: true, components: {web: {values: {b: 3}}}}")
	awaitState(t, name, metav1.ConditionTrue, "Suspended")
	awaitComponentState(t, name, "web", metav1.ConditionTrue, "the override is suspended: release cozy-frozen/web keeps what it has")
	// That the other component gets it shows that both were written.
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 5}}, plain: {values: {a: 5}}}}")
	awaitComponent(t, name, "plain", "{a: 5}")
	poke(t, name, "web", 3)
	wantComponent(t, name, "web", "{a: 1, b: 2}")
	// Nobody gets past it, and it is not forgotten that it is overridden.
	patch(t, componentOf(name, "web"), "{metadata: {labels: {"+packages.OverriddenLabel+": null}}, spec: {values: {x: y}}}")
	poke(t, name, "web", 3)
	wantComponent(t, name, "web", "{a: 1, b: 2}")
	wantQuiet(t, name, "web", "plain")

	overrideSpec(t, name, "{components: {web: {values: {b: 3}}}}")
	awaitComponent(t, name, "web", "{a: 5, b: 3}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")

	// Deleted while it is suspended it holds nothing any more.
	overrideSpec(t, name, "{suspend: true, components: {web: {values: {b: 3}}}}")
	awaitState(t, name, metav1.ConditionTrue, "Suspended")
	remove(t, object(t, "PackageValues", name, "{}"))
	awaitComponent(t, name, "web", "{a: 5}")
}

// TestSuspendedFromTheBeginning: what was never overridden is not held either.
func TestSuspendedFromTheBeginning(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "frozen-first"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideSpec(t, name, "{suspend: true, components: {web: {values: {b: 2}}}}")
	awaitState(t, name, metav1.ConditionTrue, "Suspended")
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {a: 5}}}}")
	awaitComponent(t, name, "web", "{a: 5}")
	overrideSpec(t, name, "{components: {web: {values: {b: 2}}}}")
	awaitComponent(t, name, "web", "{a: 5, b: 2}")
}
