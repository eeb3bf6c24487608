package packagevalues_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestNobodyElseOwnsAFieldOfThePackage: who owns what of a Package's spec is the same
// before a PackageValues comes, while it is there, and after.
func TestNobodyElseOwnsAFieldOfThePackage(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "owned"
	create(t, sourceOf(t, name, "web"))
	pkg := packageOf(t, name, map[string]string{"web": "{a: 1, list: [1]}"})
	if err := cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(pkg), client.FieldOwner("helm-controller")); err != nil {
		t.Fatal(err)
	}
	awaitComponent(t, name, "web", "{a: 1, list: [1]}")
	before := specManagers(t, name)
	if before == "null" || before == "[]" {
		t.Fatal("nobody owns a field")
	}
	same := func(when string) {
		t.Helper()
		if now := specManagers(t, name); now != before {
			t.Errorf("%s: the managers are\n%s, and were\n%s", when, now, before)
		}
	}
	overrideComponents(t, name, "{web: {values: {a: 2, b: 1, list: []}}}")
	awaitComponent(t, name, "web", "{a: 2, b: 1, list: []}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	awaitPackageCondition(t, name, "PackageValues")
	same("overridden")
	overrideComponents(t, name, "{web: {unset: [a]}}")
	awaitComponent(t, name, "web", "{a: null, list: [1]}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	same("changed")
	remove(t, object(t, "PackageValues", name, "{}"))
	awaitComponent(t, name, "web", "{a: 1, list: [1]}")
	awaitPackageCondition(t, name, "")
	same("gone")
	// Its owner still changes it without a conflict.
	again := packageOf(t, name, map[string]string{"web": "{a: 5}"})
	if err := cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(again), client.FieldOwner("helm-controller")); err != nil {
		t.Fatal(err)
	}
	awaitComponent(t, name, "web", "{a: 5}")
}

// specManagers are the managed fields of a Package but for those of its status.
func specManagers(t *testing.T, name string) string {
	t.Helper()
	var spec []metav1.ManagedFieldsEntry
	for _, entry := range read(t, object(t, "Package", name, "{}")).GetManagedFields() {
		if entry.Subresource == "" {
			spec = append(spec, entry)
		}
	}
	return text(t, spec)
}

// TestSpecOfAReleaseStaysThePlatformOperators: nothing of it but the label and the
// annotation is the operator's.
func TestSpecOfAReleaseStaysThePlatformOperators(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "uncontended"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	for i := range 5 {
		patch(t, object(t, "Package", name, "{}"), fmt.Sprintf("spec: {components: {web: {values: {a: %d}}}}", i+10))
		awaitComponent(t, name, "web", fmt.Sprintf("{a: %d, b: 2}", i+10))
	}
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	before := read(t, componentOf(name, "web"))
	counted := helmUpdates(t.Context(), t, name, "web")
	poke(t, name, "web", 5)
	after := read(t, componentOf(name, "web"))
	if before.GetResourceVersion() != after.GetResourceVersion() {
		t.Errorf("the release was written again:\n%s\nand was\n%s", text(t, after), text(t, before))
	}
	if now := helmUpdates(t.Context(), t, name, "web"); now.Changed != counted.Changed {
		t.Errorf("updates %+v after %+v, want none that changed anything", now, counted)
	}
}
