package packagevalues_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// TestReleasesOfTheOperatorsOwnNamespaceAreLeftAlone: a broken operator could not be mended
// otherwise. The other releases of the Package are overridden.
func TestReleasesOfTheOperatorsOwnNamespaceAreLeftAlone(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name, namespace = "own", "cozy-gitops"
	create(t, object(t, "PackageSource", name, "metadata: {annotations: {operator.cozystack.io/skip-cozystack-values: 'true'}}\n"+
		"spec: {variants: [{name: default, components: [{name: operator, path: p, install: {namespace: "+namespace+"}}, {name: web, path: p, install: {namespace: cozy-own}}]}]}"))
	create(t, packageOf(t, name, map[string]string{"operator": "{a: 1}", "web": "{a: 1}"}))
	release := componentOf(name, "operator")
	release.SetNamespace(namespace)
	harness.AwaitExists(t, cluster.Client, release)
	overrideComponents(t, name, "{operator: {values: {b: 2}}, web: {values: {b: 2}}}")
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	values := awaitState(t, name, metav1.ConditionFalse, "OperatorsOwn: operator: release cozy-gitops/operator is in the operator's own namespace")
	if values.Status.Releases != "1/2" {
		// Helm may still be at work on the other one.
		awaitComponentState(t, name, "web", metav1.ConditionTrue, "Succeeded")
	}
	untouched := func() {
		t.Helper()
		read(t, release)
		if got := text(t, release.Object["spec"].(map[string]any)["values"]); got != `{"a":1}` {
			t.Errorf("the release has %s", got)
		}
		if _, found := release.GetAnnotations()[packages.WantedAnnotation]; found {
			t.Error("the release has the annotation")
		}
	}
	untouched()
	// The label alone does not lead to the webhook either.
	patch(t, release, withLabel("'true'"))
	patch(t, release, "spec: {interval: 7m}")
	untouched()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(release), release); err != nil {
		t.Fatal(err)
	}
}
