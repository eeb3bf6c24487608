package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestUpdateKeepsWhatOthersPutBesideTheSpec(t *testing.T) {
	pkg, release := newInstalled(t, "keeping", "{}")
	change(t, release, `
metadata:
  labels: {example.org/own: x, cozystack.io/package: keeping}
  annotations: {example.org/own: x}
  finalizers: [finalizers.fluxcd.io]
spec: {suspend: true}
`)
	t.Cleanup(func() {
		if err := cluster.Client.Patch(context.Background(), release, mergePatch(t, "metadata: {finalizers: null}")); err != nil {
			t.Error(err)
		}
	})
	changeStatus(t, release, "status: {observedGeneration: 7}")
	setValues(t, pkg, release, "a", "b")
	want(t, release, map[string]any{"a": "b"}, "spec", "values")
	want(t, release, map[string]string{"cozystack.io/package": "keeping", "example.org/own": "x"}, "metadata", "labels")
	want(t, release, map[string]string{"example.org/own": "x"}, "metadata", "annotations")
	want(t, release, []string{"finalizers.fluxcd.io"}, "metadata", "finalizers")
	want(t, release, true, "spec", "suspend")
	want(t, release, 7, "status", "observedGeneration")
	change(t, release, "spec: {suspend: false}")
	setValues(t, pkg, release, "a", "c")
	if suspended, _ := release.Object["spec"].(map[string]any)["suspend"].(bool); suspended {
		t.Error("the release was suspended again")
	}
}

func TestUpdateTakesAwayWhatOthersPutIntoTheSpecOrAmongTheOwners(t *testing.T) {
	pkg, release := newInstalled(t, "overwriting", "{components: {overwriting: {values: {a: b}}}}")
	owner := release.GetOwnerReferences()[0]
	// The garbage collector would take away an owner that does not exist.
	other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: release.GetNamespace(), Name: "mine"}}
	if err := cluster.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	for what, patch := range map[string]string{
		"values":      "spec: {values: {a: c, mine: x}}",
		"a source":    "spec: {valuesFrom: [{kind: Secret, name: cozystack-values}, {kind: Secret, name: mine}]}",
		"a namespace": "spec: {targetNamespace: mine}",
		"no history":  "spec: {maxHistory: 1}",
		"an owner": "metadata: {ownerReferences: [{apiVersion: cozystack.io/v1alpha1, kind: Package, name: overwriting, controller: true, uid: " + string(owner.UID) + "}, " +
			"{apiVersion: v1, kind: ConfigMap, name: mine, uid: " + string(other.UID) + "}]}",
		"another package's label": "metadata: {labels: {cozystack.io/package: mine}}",
	} {
		triggers(t, what, release, func() { change(t, release, patch) })
	}
	setValues(t, pkg, release, "a", "d")
	want(t, release, map[string]any{"a": "d"}, "spec", "values")
	want(t, release, []any{map[string]any{"kind": "Secret", "name": "cozystack-values"}}, "spec", "valuesFrom")
	want(t, release, nil, "spec", "targetNamespace")
	want(t, release, 5, "spec", "maxHistory")
	want(t, release, "overwriting", "metadata", "labels", "cozystack.io/package")
	if owners := release.GetOwnerReferences(); len(owners) != 1 || owners[0].UID != owner.UID {
		t.Errorf("owners %v, want the Package only", owners)
	}
}

func TestReleaseIsWrittenThoughNothingIsToBeChanged(t *testing.T) {
	pkg, release := newInstalled(t, "unconditional", "{}")
	before := updates(t, release)
	for _, token := range []string{"1", "2", "3"} {
		triggers(t, "a look at the Package", release, func() { change(t, pkg, "metadata: {annotations: {look: '"+token+"'}}") })
	}
	if after := updates(t, release); after.Changed != before.Changed || after.Unchanged < before.Unchanged+3 {
		t.Errorf("updates %+v after %+v, want three more or above, and none that changed anything", after, before)
	}
	if version := release.GetResourceVersion(); version != read(t, release).GetResourceVersion() {
		t.Error("the release has another version")
	}
}
