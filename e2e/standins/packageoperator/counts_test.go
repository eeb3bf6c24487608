package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

func TestWritesThatChangeSomethingAreToldFromOthers(t *testing.T) {
	pkg, release := newInstalled(t, "counted", "{}")
	before := updates(t, release)
	for _, value := range []string{"x", "y"} {
		setValues(t, pkg, release, "a", value)
	}
	harness.Await(t, "two updates that changed something, and others", func(context.Context) (bool, string) {
		after := updates(t, release)
		return after.Changed == before.Changed+2 && after.Unchanged > before.Unchanged, fmt.Sprintf("%+v after %+v", after, before)
	})
	all := report(t)
	if created := all.Of(counts.Create, "HelmRelease", "cozy-counted", "counted"); created.Changed != 1 {
		t.Errorf("created: %+v, want once", created)
	}
	if applied := all.Of(counts.Apply, "Namespace", "", "cozy-counted"); applied.Changed != 1 || applied.Unchanged == 0 {
		t.Errorf("applied: %+v, want one that changed something, and others", applied)
	}
	change(t, pkg, "spec: {components: {counted: {enabled: false}}}")
	harness.AwaitGone(t, cluster.Client, release)
	harness.Await(t, "the deletion to be counted", func(context.Context) (bool, string) {
		deleted := report(t).Of(counts.Delete, "HelmRelease", "cozy-counted", "counted")
		return deleted.Changed > 0, fmt.Sprintf("%+v", deleted)
	})
}

func TestCountsBeginAtZeroWithEachStart(t *testing.T) {
	_, release := newInstalled(t, "restarted", "{}")
	if err := cluster.StartPackageOperator(t.Context()); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the Package to be reconciled after the start", func(context.Context) (bool, string) {
		reconciled := report(t).Packages["restarted"]
		return reconciled.Succeeded > 0, fmt.Sprintf("%+v", reconciled)
	})
	if created := report(t).Of(counts.Create, "HelmRelease", release.GetNamespace(), release.GetName()); created.All() != 0 {
		t.Errorf("created: %+v, want what was before forgotten", created)
	}
	if written := updates(t, release); written.Changed != 0 {
		t.Errorf("updates %+v, want none that changed anything", written)
	}
}
