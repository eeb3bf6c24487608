package unserved_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/definitions"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// installHelmReleases has HelmReleases served, and nobody makes anything of them.
func installHelmReleases(t *testing.T) {
	t.Helper()
	folder, err := embedded.HelmReleaseCRDs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.ApplyPaths(t.Context(), cluster.Client, folder); err != nil {
		t.Fatal(err)
	}
}

// installPackages has Packages and PackageSources served; the tests are their operator.
func installPackages(t *testing.T) {
	t.Helper()
	if err := definitions.Install(t.Context(), cluster.Client); err != nil {
		t.Fatal(err)
	}
}

// uninstallPackages takes both kinds away, and what there is of them.
func uninstallPackages(t *testing.T) {
	t.Helper()
	objects, err := definitions.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, definition := range objects {
		if err := client.IgnoreNotFound(cluster.Client.Delete(t.Context(), definition)); err != nil {
			t.Fatal(err)
		}
		harness.AwaitGone(t, cluster.Client, definition)
	}
	// Another client, which remembers nothing.
	harness.Await(t, "the kinds to be served no more", func(context.Context) (bool, string) {
		fresh, err := client.New(cluster.Config, client.Options{})
		if err != nil {
			return false, err.Error()
		}
		for _, kind := range []string{"Package", "PackageSource"} {
			if _, err := fresh.RESTMapper().RESTMapping(packages.GroupVersion.WithKind(kind).GroupKind(), packages.GroupVersion.Version); !apimeta.IsNoMatchError(err) {
				return false, fmt.Sprint(kind, err)
			}
		}
		return true, ""
	})
}

// newPackage makes a Package with one component, web, whose release is called as the Package,
// with the values that the platform's operator would give it.
func newPackage(t *testing.T, name string) {
	t.Helper()
	release := object(t, "HelmRelease", name, fmt.Sprintf(`
metadata: {labels: {%s: %s}}
spec: {interval: 5m, chartRef: {kind: ExternalArtifact, name: web}, values: {a: 1}}
`, packages.PackageLabel, name))
	release.SetGroupVersionKind(helmrelease.GroupVersion.WithKind("HelmRelease"))
	release.SetNamespace(namespaceOf(name))
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: release.GetNamespace()}})
	create(t, release)
	describePackage(t, name)
}

// describePackage makes the Package and its source, for a release that is there.
func describePackage(t *testing.T, name string) {
	t.Helper()
	create(t, object(t, "PackageSource", name, fmt.Sprintf(
		"spec: {variants: [{name: default, components: [{name: web, path: web, install: {namespace: %s, releaseName: %s}}]}]}", namespaceOf(name), name)))
	create(t, object(t, "Package", name, "spec: {components: {web: {values: {a: 1}}}}"))
}

func namespaceOf(name string) string { return "cozy-" + name }

func overrideOf(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "PackageValues", name, "spec: {components: {web: {values: {b: 2}}}}")
}

// object is one of the platform's kinds, or ours, from the YAML of what it has beside its
// name.
func object(t *testing.T, kind, name, content string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(content), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetGroupVersionKind(packages.GroupVersion.WithKind(kind))
	o.SetName(name)
	return o
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}
