package main

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

func TestEveryStatusOfAReleaseIsLookedAt(t *testing.T) {
	_, release := newInstalled(t, "watching", "{}")
	before := updates(t, release)
	for i := range 20 {
		triggers(t, "a status", release, func() { changeStatus(t, release, fmt.Sprintf("status: {observedGeneration: %d}", i)) })
	}
	if after := updates(t, release); after.Changed != before.Changed {
		t.Errorf("updates %+v after %+v, want none that changed anything", after, before)
	}
	if succeeded := report(t).Packages["watching"].Succeeded; succeeded < 20 {
		t.Errorf("%d reconciliations, want one for each status", succeeded)
	}
}

func TestLabelsAloneAreLookedAt(t *testing.T) {
	pkg, release := newInstalled(t, "labelling", "{}")
	for i := range 10 {
		label := fmt.Sprintf("metadata: {labels: {look: again-%d}}", i)
		triggers(t, "a label of the release", release, func() { change(t, release, label) })
	}
	for i := range 10 {
		label := fmt.Sprintf("metadata: {labels: {look: again-%d}}", i)
		triggers(t, "a label of the Package", release, func() { change(t, pkg, label) })
	}
}

func TestChangeOfTheSourceIsLookedAt(t *testing.T) {
	source := newSource(t, "sourced", "[{name: sourced, path: p, install: {namespace: cozy-sourced}}]")
	newPackage(t, "sourced", "{}")
	release := read(t, releaseNamed("cozy-sourced", "sourced"))
	change(t, source, "spec: {variants: [{name: default, components: [{name: sourced, path: p, valuesFiles: [v.yaml], install: {namespace: cozy-sourced}}]}]}")
	harness.Await(t, "the values files of the source", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release)
		files := release.GetAnnotations()["cozyhr.cozystack.io/values-files"]
		return files == "v.yaml", fmt.Sprint(files, err)
	})
}

// What a controller patches is undone by the operator, which the patch itself calls.
func TestPatchOfValuesIsFoughtWithoutEnd(t *testing.T) {
	_, release := newInstalled(t, "fighting", "{components: {fighting: {values: {a: b}}}}")
	for i := range 5 {
		before := updates(t, release).Changed
		change(t, release, fmt.Sprintf("spec: {values: {a: %d}}", i))
		awaitValue(t, release, "a", "b")
		harness.Await(t, "another update that changed something", func(context.Context) (bool, string) {
			after := updates(t, release)
			return after.Changed == before+1, fmt.Sprintf("%+v", after)
		})
	}
}

func TestReleaseThatIsDeletedComesBack(t *testing.T) {
	_, release := newInstalled(t, "returning", "{}")
	first := release.GetUID()
	if err := cluster.Client.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	awaitAnother(t, release, first)
	if created := report(t).Of(counts.Create, "HelmRelease", "cozy-returning", "returning"); created.Changed != 2 {
		t.Errorf("created %+v, want two", created)
	}
}
