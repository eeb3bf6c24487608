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
{name: on, path: p, install: {namespace: cozy-base}},
{name: off, path: p, install: {namespace: cozy-base}}]`)
	newPackage(t, "base", "{components: {off: {enabled: false}}}")
	ready := awaitReady(t, "top", metav1.ConditionTrue, "ReconciliationSucceeded")
	if fmt.Sprint(ready.Status.Dependencies) != "map[base:{true}]" {
		t.Errorf("dependencies %v, want base, ready", ready.Status.Dependencies)
	}
	base := map[string]any{"name": "on", "namespace": "cozy-base"}
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
