package main

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

func TestPackageWaitsForThoseThatItDependsOn(t *testing.T) {
	create(t, "PackageSource", "top", `
spec:
  variants:
  - name: default
    dependsOn: [base, ignored]
    components:
    - {name: first, path: p, install: {namespace: cozy-top}}
    - {name: second, path: p, install: {namespace: cozy-top, releaseName: 2nd, dependsOn: [first]}}
`)
	create(t, "Package", "top", "spec: {ignoreDependencies: [ignored]}")
	waiting := awaitReady(t, "top", metav1.ConditionFalse, "DependenciesNotReady")
	if fmt.Sprint(waiting.Status.Dependencies) != "map[base:{false}]" {
		t.Errorf("dependencies %v, want base, not ready", waiting.Status.Dependencies)
	}
	err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: "cozy-top", Name: "first"}, &kinds.HelmRelease{})
	if err == nil {
		t.Error("there is a release already")
	}
	newSource(t, "base", `[
{name: wanted, path: p, install: {namespace: cozy-base}},
{name: unwanted, path: p, install: {namespace: cozy-base}}]`)
	newPackage(t, "base", "{components: {unwanted: {enabled: false}}}")
	harness.Await(t, "the dependency to be ready", func(context.Context) (bool, string) {
		seen := fmt.Sprint(awaitReady(t, "top", metav1.ConditionTrue, "ReconciliationSucceeded").Status.Dependencies)
		return seen == "map[base:{true}]", seen
	})
	base := map[string]any{"name": "wanted", "namespace": "cozy-base"}
	want(t, read(t, releaseNamed("cozy-top", "first")), []any{base}, "spec", "dependsOn")
	second := read(t, releaseNamed("cozy-top", "2nd"))
	want(t, second, []any{map[string]any{"name": "first", "namespace": "cozy-top"}, base}, "spec", "dependsOn")
}

func TestStatusNamesThoseThatAreWaitedForOnly(t *testing.T) {
	pkg, _ := newInstalled(t, "alone", "{}")
	changeStatus(t, pkg, "status: {dependencies: {nothing: {ready: true}}}")
	harness.Await(t, "the dependency to be taken out of the status", func(ctx context.Context) (bool, string) {
		found := &kinds.Package{}
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pkg), found)
		return err == nil && len(found.Status.Dependencies) == 0, fmt.Sprint(found.Status.Dependencies, err)
	})
}
