package packagevalues_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

// ownAccount is whom the operator acts as.
const ownAccount = "system:serviceaccount:cozy-gitops:gitops-operator"

// TestQuietSystemIsWrittenByNobody: the platform's operator looks at the Package time and
// again, and writes its releases as a whole each time; nothing comes of it.
func TestQuietSystemIsWrittenByNobody(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "steady"
	newComponents(t, name, map[string]string{"web": "{a: 1, number: 1.0, list: [{name: x}]}", "plain": "{a: 1}", "none": ""})
	overrideComponents(t, name, "{web: {values: {b: 1e3, big: 9007199254740993, list: [{name: x, more: null}]}, unset: [gone.deep], listMerge: [{path: list, strategy: MergeByKey, key: name}]}, none: {values: {}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	wantQuiet(t, name, "web", "plain", "none")
}

// TestStandingFailureIsNotWrittenAgain: a PackageValues that waits, and one that cannot be, tell
// it once. Looks at them change nothing but what says that they were asked for.
func TestStandingFailureIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	newComponents(t, "standing-typo", map[string]string{"web": "{a: 1}"})
	overrideComponents(t, "standing-typo", "{wbe: {values: {a: 2}}}")
	overrideComponents(t, "standing-absent", "{web: {values: {a: 2}}}")
	for name, reason := range map[string]string{"standing-typo": cozyv1.ReasonComponentNotFound, "standing-absent": cozyv1.ReasonPackageNotFound} {
		before := awaitState(t, name, metav1.ConditionFalse, reason).Status
		harness.AwaitAnotherSecond(t, before.Conditions)
		request(t, name)
		after := awaitState(t, name, metav1.ConditionFalse, reason).Status
		if after.LastHandledReconcileAt == before.LastHandledReconcileAt {
			t.Errorf("%s has not been looked at", name)
		}
		if !equality.Semantic.DeepEqual(before.Conditions, after.Conditions) {
			t.Errorf("%s has conditions %v, and had %v", name, after.Conditions, before.Conditions)
		}
	}
}

// wantQuiet has the platform's operator look at a Package, and says that nothing was stored
// meanwhile: no release, nothing of the Package, nor the PackageValues, if there is one.
func wantQuiet(t *testing.T, name string, components ...string) {
	t.Helper()
	versions := func() string {
		t.Helper()
		seen := "Package " + read(t, object(t, "Package", name, "{}")).GetResourceVersion()
		for _, component := range components {
			seen += fmt.Sprintf(", %s %s", component, read(t, componentOf(name, component)).GetResourceVersion())
		}
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(object(t, "PackageValuesList", "", "{}").GroupVersionKind())
		if err := cluster.Client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if list.Items[i].GetName() == name {
				seen += ", PackageValues " + list.Items[i].GetResourceVersion()
			}
		}
		return seen
	}
	// What is on its way comes to its end.
	before, still := "", 0
	harness.Await(t, "nothing of "+name+" to be written while it is looked at again and again", func(context.Context) (bool, string) {
		last := versions()
		poke(t, name, components[0], 3)
		if before = versions(); before == last {
			still++
		} else {
			// Helm is not done, or tries again.
			still = 0
		}
		return still == 3, last + "; " + before
	})
	began := time.Now()
	changed := map[string]counts.Write{}
	for _, component := range components {
		changed[component] = helmUpdates(t.Context(), t, name, component)
	}
	// Not so often that Helm comes by at its interval, which it notes in the status.
	poke(t, name, components[0], 8)
	if after := versions(); after != before {
		t.Errorf("versions %s, and were %s", after, before)
	}
	for _, component := range components {
		if now := helmUpdates(t.Context(), t, name, component); now.Changed != changed[component].Changed || now.Failed != changed[component].Failed {
			t.Errorf("updates %+v after %+v, want none that changed anything", now, changed[component])
		}
	}
	wrote, err := cluster.Writes(began, func(w embedded.Write) bool {
		return w.Stored() && w.User == ownAccount && (w.Name == name || w.Namespace == "cozy-"+name)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(wrote) > 0 {
		t.Errorf("the operator wrote %v", wrote)
	}
}

// poke has the platform's operator look at a Package a number of times, one after the other,
// and waits each time until it has written the release.
func poke(t *testing.T, name, component string, times int) {
	t.Helper()
	for range times {
		before := helmUpdates(t.Context(), t, name, component).All()
		patch(t, object(t, "PackageSource", name, "{}"), fmt.Sprintf("metadata: {annotations: {example.org/look: at-%d}}", time.Now().UnixNano()))
		harness.Await(t, "another look at "+name, func(ctx context.Context) (bool, string) {
			now := helmUpdates(ctx, t, name, component)
			return now.All() > before, fmt.Sprintf("%+v", now)
		})
	}
}

// helmUpdates are what became of the platform's operator's updates of a release.
func helmUpdates(ctx context.Context, t *testing.T, name, component string) counts.Write {
	t.Helper()
	counted, err := cluster.PackageOperatorCounts(ctx)
	if err != nil {
		// One that has just started serves none yet, and has written nothing.
		return counts.Write{}
	}
	return counted.Of(counts.Update, "HelmRelease", "cozy-"+name, component)
}
