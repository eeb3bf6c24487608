package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

func labelled(pkg string) client.MatchingLabels {
	return client.MatchingLabels{"cozystack.io/package": pkg}
}

// strayRelease creates a HelmRelease that no Package owns, in the namespace "strays".
func strayRelease(t *testing.T, name string, labels map[string]string) *unstructured.Unstructured {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strays"}}
	if err := cluster.Client.Create(t.Context(), namespace); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	release := releaseNamed("strays", name)
	release.SetLabels(labels)
	release.Object["spec"] = map[string]any{
		"interval": "1h", "chartRef": map[string]any{"kind": "OCIRepository", "name": name},
	}
	if err := cluster.Client.Create(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	return release
}

func TestAnyReleaseWithAPackagesLabelIsDeletedUnlessItIsTheVariants(t *testing.T) {
	pkg, release := newInstalled(t, "collecting", "{}")
	stray := strayRelease(t, "labelled", labelled("collecting"))
	others := strayRelease(t, "of-another", labelled("nobody"))
	unlabelled := strayRelease(t, "unlabelled", nil)
	// It is no release that the operator owns, so nothing tells it of that.
	triggers(t, "a change of the Package", release, func() { change(t, pkg, "metadata: {annotations: {look: again}}") })
	harness.AwaitGone(t, cluster.Client, stray)
	read(t, others)
	read(t, unlabelled)
}

func TestReleaseOfAComponentThatIsDisabledOrTakenOutIsDeleted(t *testing.T) {
	source := newSource(t, "shrinking", `[
{name: stays, path: p, install: {namespace: cozy-shrinking}},
{name: disabled, path: p, install: {namespace: cozy-shrinking}},
{name: uninstalled, path: p, install: {namespace: cozy-shrinking}}]`)
	pkg := newPackage(t, "shrinking", "{}")
	change(t, pkg, "spec: {components: {disabled: {enabled: false}}}")
	harness.AwaitGone(t, cluster.Client, releaseNamed("cozy-shrinking", "disabled"))
	read(t, releaseNamed("cozy-shrinking", "uninstalled"))
	change(t, source, "spec: {variants: [{name: default, components: [{name: stays, path: p, install: {namespace: cozy-shrinking}}, {name: uninstalled, path: p}]}]}")
	harness.AwaitGone(t, cluster.Client, releaseNamed("cozy-shrinking", "uninstalled"))
	read(t, releaseNamed("cozy-shrinking", "stays"))
}
