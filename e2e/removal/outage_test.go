package removal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestOutageLosesNothing takes the operator away between two commits: git's writes to
// applications wait, everybody else's do not, and what has left git meanwhile leaves the
// application when the operator is back.
func TestOutageLosesNothing(t *testing.T) {
	operator.AwaitReady(t)
	const tenant = "tenant-outage"
	sources := newTwoSources(t, tenant)
	app := func(spec map[string]any) map[string]string {
		return map[string]string{"apps/db.yaml": fixtures.Manifest("Postgres", "db", spec)}
	}
	sources.commit(t, 0, app(map[string]any{"password": "a", "parameters": map[string]any{"a": "1", "b": "2"}}))

	if err := operator.Stop(); err != nil {
		t.Fatal(err)
	}
	back := false
	restart := func() {
		var err error
		if operator, err = harness.Start(context.Background(), cluster, harness.Config(), nil); err != nil {
			t.Fatal(err)
		}
		back = true
	}
	t.Cleanup(func() {
		if !back {
			restart()
		}
	})
	// A new application waits in either way of serving them.
	content := app(map[string]any{"parameters": map[string]any{"b": "2"}})
	content["apps/new.yaml"] = fixtures.Redis("new", 3)
	commit := sources.push(t, 0, content)
	harness.Await(t, "git to be told that nobody answers", func(ctx context.Context) (bool, string) {
		kustomization := &kustomizev1.Kustomization{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: tenant, Name: "gitops-first"}, kustomization); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(kustomization.Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			return false, "no condition"
		}
		return strings.Contains(ready.Message, "applied.gitops.cozystack.io"), ready.Message
	})
	own := fixtures.Application("Postgres", tenant, "own")
	own.Object["spec"] = map[string]any{"size": "1Gi"}
	if err := cluster.Client.Create(t.Context(), own, anotherHand); err != nil {
		t.Errorf("another hand cannot create an application: %v", err)
	}
	edit(t, tenant, "own", `spec: {size: 2Gi}`)
	edit(t, tenant, "db", `spec: {backup: {schedule: theirs}}`)

	restart()
	operator.AwaitReady(t)
	sources.fetch(t, 0)
	harness.Request(t, cluster.Client, tenant)
	sources.awaitApplied(t, 0, commit)
	spec := read(t, tenant, "db").Spec
	if password, stays := spec["password"]; stays {
		t.Errorf("what left git while nobody answered stays: %v", password)
	}
	if parameters := fmt.Sprint(spec["parameters"]); parameters != "map[b:2]" {
		t.Errorf("parameters: %s", parameters)
	}
	if theirs, _, _ := unstructured.NestedString(spec, "backup", "schedule"); theirs != "theirs" {
		t.Errorf("another hand's field is %q", theirs)
	}
}

// TestSteadyStateChangesNothing has Flux reconcile again: it tries first, and on
// an API server that stores tries nothing may come of that.
func TestSteadyStateChangesNothing(t *testing.T) {
	operator.AwaitReady(t)
	const tenant = "tenant-steady"
	sources := newTwoSources(t, tenant)
	sources.commit(t, 0, map[string]string{"apps/db.yaml": fixtures.Manifest("Postgres", "db", map[string]any{"password": "a"})})
	db := fixtures.Application("Postgres", tenant, "db")
	version := func() string {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(db), db); err != nil {
			t.Fatal(err)
		}
		return db.GetResourceVersion()
	}
	before := version()
	// Another file has the whole source applied again.
	sources.commit(t, 0, map[string]string{"apps/more.yaml": fixtures.Bucket("more")})
	if after := version(); after != before {
		t.Errorf("applied again, it was written: %s, before %s", after, before)
	}
	_, marked := db.GetAnnotations()["gitops.cozystack.io/applied"]
	if aggregated := cluster.Applications() == embedded.AggregatedApplications; marked != aggregated {
		t.Errorf("the applied fields are written down: %v, want so only where managed fields are not stored", marked)
	}
}
