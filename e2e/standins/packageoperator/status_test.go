package main

import (
	"context"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

const extraCondition = `{type: ValuesOverridden, status: "True", reason: Overridden, message: by hand, lastTransitionTime: "2026-01-01T00:00:00Z"}`

// addCondition adds a condition of another type to those of a Package.
func addCondition(t *testing.T, pkg *unstructured.Unstructured) {
	t.Helper()
	ready := apimeta.FindStatusCondition(awaitReady(t, pkg.GetName(), metav1.ConditionTrue, "ReconciliationSucceeded").Status.Conditions, "Ready")
	changeStatus(t, pkg, fmt.Sprintf(`status: {conditions: [{type: Ready, status: "True", reason: %s, message: %q, lastTransitionTime: %q}, %s]}`,
		ready.Reason, ready.Message, ready.LastTransitionTime.UTC().Format("2006-01-02T15:04:05Z"), extraCondition))
}

// awaitMessage waits for what Ready says, and for the condition that it does not know.
func awaitMessage(t *testing.T, name, message string) {
	t.Helper()
	harness.Await(t, "Package "+name+" to say "+message, func(context.Context) (bool, string) {
		seen := readyMessage(awaitReady(t, name, metav1.ConditionTrue, "ReconciliationSucceeded"))
		return seen == message, seen
	})
	pkg := awaitReady(t, name, metav1.ConditionTrue, "ReconciliationSucceeded")
	if extra := apimeta.FindStatusCondition(pkg.Status.Conditions, "ValuesOverridden"); extra == nil || extra.Message != "by hand" {
		t.Errorf("conditions %v, want the extra one among them", pkg.Status.Conditions)
	}
}

func TestConditionsOfOthersSurvive(t *testing.T) {
	pkg, _ := newInstalled(t, "conditions", "{}")
	addCondition(t, pkg)
	change(t, pkg, "spec: {components: {conditions: {enabled: false}}}")
	awaitMessage(t, "conditions", "releases generated: 0")
	change(t, pkg, "spec: {components: {conditions: {enabled: true}}}")
	awaitMessage(t, "conditions", "releases generated: 1")
}

// The list of conditions has one owner, so that nobody else can apply one of them.
func TestConditionsCannotBeAppliedBesideTheOperators(t *testing.T) {
	newInstalled(t, "applied", "{}")
	applied := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "metadata": map[string]any{"name": "applied"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "ValuesOverridden", "status": "True", "reason": "Overridden", "message": "applied", "lastTransitionTime": "2026-01-01T00:00:00Z",
		}}},
	}}
	err := cluster.Client.Status().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("somebody"))
	if !apierrors.IsConflict(err) {
		t.Errorf("apply of a condition: %v, want a conflict", err)
	}
}

func TestStatusIsWrittenThoughNothingIsToBeChanged(t *testing.T) {
	pkg, release := newInstalled(t, "telling", "{}")
	before := report(t).Of(counts.UpdateStatus, "Package", "", pkg.GetName())
	for i := range 5 {
		triggers(t, "a status", release, func() { changeStatus(t, release, fmt.Sprintf("status: {observedGeneration: %d}", i)) })
	}
	harness.Await(t, "writes of the same status", func(context.Context) (bool, string) {
		written := report(t).Of(counts.UpdateStatus, "Package", "", pkg.GetName())
		return written.Unchanged >= before.Unchanged+5, fmt.Sprintf("%+v after %+v", written, before)
	})
}

func TestReadySaysThatReleasesAreWrittenNotThatTheyAreWell(t *testing.T) {
	pkg, release := newInstalled(t, "ailing", "{}")
	changeStatus(t, release, `status: {conditions: [{type: Ready, status: "False", reason: InstallFailed, message: no room, lastTransitionTime: "2026-01-01T00:00:00Z"}]}`)
	setValues(t, pkg, release, "a", "b")
	awaitReady(t, "ailing", metav1.ConditionTrue, "ReconciliationSucceeded")
}
