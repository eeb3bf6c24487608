package main

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

const monitoring = `
spec:
  sourceRef: {kind: OCIRepository, namespace: cozy-system, name: cozystack-packages, path: /}
  variants:
  - name: default
    components:
    - name: grafana
      path: system/grafana
      valuesFiles: [values.yaml, values-extra.yaml]
      install: {namespace: cozy-monitoring, releaseName: dashboards, privileged: true}
    - {name: agents.v2, path: system/agents, install: {namespace: cozy-agents, releaseName: agents}}
    - {name: alerts, path: system/alerts, install: {namespace: cozy-monitoring}}
    - {name: chart-only, path: apps/monitoring}
  - name: small.v1
    components:
    - {name: agents.v2, path: system/agents, install: {namespace: cozy-agents}}
`

func TestEachEnabledComponentThatIsInstalledHasARelease(t *testing.T) {
	create(t, "PackageSource", "acme.monitoring", monitoring)
	pkg := newPackage(t, "acme.monitoring", "{components: {alerts: {enabled: false}, agents.v2: {enabled: true}}}")
	releases := &kinds.HelmReleaseList{}
	if err := cluster.Client.List(t.Context(), releases, labelled("acme.monitoring")); err != nil {
		t.Fatal(err)
	}
	if len(releases.Items) != 2 {
		t.Errorf("%d releases, want those of grafana and agents.v2", len(releases.Items))
	}
	if message := readyMessage(awaitReady(t, "acme.monitoring", metav1.ConditionTrue, "ReconciliationSucceeded")); message != "releases generated: 2" {
		t.Errorf("message %q", message)
	}
	owners := []any{map[string]any{
		"apiVersion": "cozystack.io/v1alpha1", "kind": "Package", "name": "acme.monitoring", "uid": string(pkg.GetUID()), "controller": true,
	}}

	dashboards := read(t, releaseNamed("cozy-monitoring", "dashboards"))
	want(t, dashboards, map[string]string{"cozystack.io/package": "acme.monitoring", "cozystack.io/privileged": "true"}, "metadata", "labels")
	want(t, dashboards, map[string]string{"cozyhr.cozystack.io/values-files": "values.yaml,values-extra.yaml"}, "metadata", "annotations")
	want(t, dashboards, owners, "metadata", "ownerReferences")
	want(t, dashboards, map[string]any{"kind": "ExternalArtifact", "namespace": "cozy-system", "name": "acme-monitoring-default-grafana"}, "spec", "chartRef")
	want(t, dashboards, []any{map[string]any{"kind": "Secret", "name": "cozystack-values"}}, "spec", "valuesFrom")
	want(t, dashboards, nil, "spec", "values")

	agents := read(t, releaseNamed("cozy-agents", "agents"))
	want(t, agents, map[string]string{"cozystack.io/package": "acme.monitoring"}, "metadata", "labels")
	want(t, agents, nil, "metadata", "annotations")
	want(t, agents, owners, "metadata", "ownerReferences")
	want(t, agents, "acme-monitoring-default-agents-v2", "spec", "chartRef", "name")
}

func TestReleasesAreThoseOfTheVariantThatIsAskedFor(t *testing.T) {
	create(t, "PackageSource", "acme.variants", `
spec:
  variants:
  - {name: default, components: [{name: big, path: big, install: {namespace: cozy-variants}}]}
  - {name: small.v1, components: [{name: little, path: little, install: {namespace: cozy-variants}}]}
`)
	pkg := newPackage(t, "acme.variants", "{variant: small.v1}")
	want(t, read(t, releaseNamed("cozy-variants", "little")), "acme-variants-small-v1-little", "spec", "chartRef", "name")
	change(t, pkg, "spec: {variant: null}")
	harness.AwaitExists(t, cluster.Client, releaseNamed("cozy-variants", "big"))
	harness.AwaitGone(t, cluster.Client, releaseNamed("cozy-variants", "little"))
}

func TestPlatformsValuesAreLeftOutWhereTheSourceSaysSo(t *testing.T) {
	source := create(t, "PackageSource", "skipping", `
metadata: {annotations: {operator.cozystack.io/skip-cozystack-values: "true"}}
spec: {variants: [{name: default, components: [{name: skipping, path: p, install: {namespace: cozy-skipping}}]}]}
`)
	newPackage(t, "skipping", "{}")
	release := read(t, releaseNamed("cozy-skipping", "skipping"))
	want(t, release, nil, "spec", "valuesFrom")
	change(t, source, `metadata: {annotations: {operator.cozystack.io/skip-cozystack-values: "false"}}`)
	harness.Await(t, "the platform's values", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release)
		from, _, fromErr := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
		return fmt.Sprint(from) == "[map[kind:Secret name:cozystack-values]]", fmt.Sprint(from, err, fromErr)
	})
}

func TestPackageWaitsForItsSourceAndVariant(t *testing.T) {
	create(t, "Package", "early", "spec: {variant: large}")
	awaitReady(t, "early", metav1.ConditionFalse, "PackageSourceNotFound")
	source := create(t, "PackageSource", "early", "spec: {variants: [{name: default}]}")
	awaitReady(t, "early", metav1.ConditionFalse, "VariantNotFound")
	change(t, source, "spec: {variants: [{name: large, components: [{name: early, path: p, install: {namespace: cozy-early}}]}]}")
	awaitReady(t, "early", metav1.ConditionTrue, "ReconciliationSucceeded")
	read(t, releaseNamed("cozy-early", "early"))
}

func TestReleasesGoWithTheirPackage(t *testing.T) {
	pkg, release := newInstalled(t, "leaving", "{}")
	if err := cluster.Client.Delete(t.Context(), pkg); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, release)
}
