package unserved_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// retries is within how long an override takes effect after the kinds have come: the operator
// looks every 15 s, and a machine that has other work is slower.
const retries = 45 * time.Second

// TestPackagesComeLater: a PackageValues says that they are not served, what to do, and heals
// by itself. What is deleted meanwhile is not looked at for ever.
func TestPackagesComeLater(t *testing.T) {
	uninstallPackages(t)
	harness.WithOperator(t, cluster, harness.Config())
	const name = "acme-later"
	wantLastLook(t, "acme-deleted")
	create(t, overrideOf(t, name))
	first := awaitNotServed(t, name)

	installHelmReleases(t)
	wantLastLook(t, "acme-deleted")
	// No label of a release holds it.
	wantLastLook(t, strings.Repeat("acme-", 20)+"deleted")
	installPackages(t)
	newPackage(t, name)
	began := time.Now()
	awaitRelease(t, name, true, map[string]any{"a": int64(1), "b": int64(2)})
	last := awaitState(t, name, metav1.ConditionUnknown, "Progressing: ")
	if took := time.Since(began); took > retries {
		t.Errorf("it took %s, want no more than %s", took, retries)
	}
	if last.UID != first.UID || last.Generation != first.Generation {
		t.Error("it has not healed by itself")
	}
}

// wantLastLook: where a PackageValues is deleted, there is a look at it that is the last.
func wantLastLook(t *testing.T, name string) {
	t.Helper()
	create(t, overrideOf(t, name))
	awaitNotServed(t, name)
	ended := looks(t, "success")
	remove(t, overrideOf(t, name))
	// Whatever waits asks for another look, and is counted apart.
	harness.Await(t, "a last look at what is deleted", func(context.Context) (bool, string) {
		return looks(t, "success") > ended, fmt.Sprintf("%v looks", looks(t, "requeue_after"))
	})
}

// TestLeftWherePackagesComeLater: where a release is overridden still and its PackageValues is
// gone, Packages are waited for, even if there is no other PackageValues.
func TestLeftWherePackagesComeLater(t *testing.T) {
	installHelmReleases(t)
	installPackages(t)
	const name = "acme-left"
	operator := harness.WithOperator(t, cluster, harness.Config())
	newPackage(t, name)
	create(t, overrideOf(t, name))
	awaitRelease(t, name, true, map[string]any{"a": int64(1), "b": int64(2)})
	if err := operator.Stop(); err != nil {
		t.Fatal(err)
	}
	removeAllOverrides(t)
	uninstallPackages(t)

	waited := looks(t, "requeue_after")
	harness.WithOperator(t, cluster, harness.Config())
	harness.Await(t, "the operator to see that Packages are not served", func(context.Context) (bool, string) {
		return looks(t, "requeue_after") > waited, fmt.Sprintf("%v looks that were the last", looks(t, "success"))
	})
	awaitRelease(t, name, true, map[string]any{"a": int64(1), "b": int64(2)})
	installPackages(t)
	describePackage(t, name)
	awaitRelease(t, name, false, map[string]any{"a": int64(1)})
}

func removeAllOverrides(t *testing.T) {
	t.Helper()
	if err := cluster.Client.DeleteAllOf(t.Context(), &cozyv1.PackageValues{}); err != nil {
		t.Fatal(err)
	}
}

// looks are how often the operators have looked at a PackageValues with this result.
func looks(t *testing.T, result string) float64 {
	t.Helper()
	return harness.Reconciliations(t, "packagevalues", result)
}

func awaitNotServed(t *testing.T, name string) *cozyv1.PackageValues {
	t.Helper()
	values := awaitState(t, name, metav1.ConditionFalse, "PlatformNotReady: Packages are not served here (")
	said := apimeta.FindStatusCondition(values.Status.Conditions, "Ready").Message
	for _, part := range []string{"install it, or delete this PackageValues", "every 15s"} {
		if !strings.Contains(said, part) {
			t.Errorf("it says %q, without %q", said, part)
		}
	}
	return values
}

// awaitState waits for the Ready condition of a PackageValues: how its reason and message
// begin.
func awaitState(t *testing.T, name string, ready metav1.ConditionStatus, begin string) *cozyv1.PackageValues {
	t.Helper()
	values := &cozyv1.PackageValues{}
	harness.Await(t, fmt.Sprintf("PackageValues %s to be %s with %q", name, ready, begin), func(ctx context.Context) (bool, string) {
		*values = cozyv1.PackageValues{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, values); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(values.Status.Conditions, "Ready")
		if condition == nil {
			return false, "no condition"
		}
		said := fmt.Sprintf("%s: %s", condition.Reason, condition.Message)
		return condition.Status == ready && strings.HasPrefix(said, begin), said
	})
	return values
}

// awaitRelease waits until a release has these values, and our label or neither that nor our
// annotation.
func awaitRelease(t *testing.T, name string, overridden bool, want map[string]any) {
	t.Helper()
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(helmrelease.GroupVersion.WithKind("HelmRelease"))
	harness.Await(t, fmt.Sprintf("release %s to have %v, overridden %t", name, want, overridden), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(name), Name: name}, release); err != nil {
			return false, err.Error()
		}
		values, _, err := unstructured.NestedMap(release.Object, "spec", "values")
		_, labelled := release.GetLabels()[packages.OverriddenLabel]
		_, annotated := release.GetAnnotations()[packages.WantedAnnotation]
		return err == nil && reflect.DeepEqual(values, want) && labelled == overridden && (overridden || !annotated),
			fmt.Sprint(values, release.GetLabels(), release.GetAnnotations(), err)
	})
}
