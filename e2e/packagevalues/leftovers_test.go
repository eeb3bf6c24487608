package packagevalues_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeletedWhileNoOperatorRuns: releases are as they were when one starts, also where none
// of the PackageValues is left, and where one was made shorter.
func TestDeletedWhileNoOperatorRuns(t *testing.T) {
	operator.AwaitReady(t)
	const name, other = "left", "left-shorter"
	newComponents(t, name, map[string]string{"web": "{a: 1}", "none": ""})
	newComponents(t, other, map[string]string{"web": "{a: 1}", "api": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}, none: {values: {b: 2}}}")
	overrideComponents(t, other, "{web: {values: {b: 2}}, api: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	awaitState(t, other, metav1.ConditionTrue, "Succeeded")
	stopOperator(t)
	remove(t, object(t, "PackageValues", name, "{}"))
	patch(t, object(t, "PackageValues", other, "{}"), "spec: {components: {web: null}}")
	wantComponent(t, name, "web", "{a: 1, b: 2}")

	startOperator(t)
	var plain raw
	plain.Spec.Values = []byte(`{"a":1}`)
	awaitPlain(t, name, "web", plain)
	awaitPlain(t, name, "none", raw{})
	awaitPackageCondition(t, name, "")
	awaitPlain(t, other, "web", plain)
	awaitComponent(t, other, "api", "{a: 1, b: 2}")
}
