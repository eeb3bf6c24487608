package packagevalues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// runUntil runs an operator that dies at its n-th write until it is dead, or until done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := harness.DieAtWrite(n, harness.IsLastingWrite)
	return d.RunUntil(t, func() (*harness.Operator, error) {
		return harness.Start(t.Context(), cluster, harness.Config(), d.Wrap)
	}, done)
}

// TestKilledAtEachWrite kills an operator at its first write, the next one at its second, and
// so on: while a PackageValues comes, and while it goes. The next operator comes to the same end.
func TestKilledAtEachWrite(t *testing.T) {
	operator.AwaitReady(t)
	stopOperator(t)
	const limit = 30
	began := time.Now()
	n := 1
	for died := true; died; n++ {
		if n > limit {
			t.Fatalf("after %d writes the operator has not come to its end", limit)
		}
		name := fmt.Sprintf("killed-%d", n)
		newComponents(t, name, map[string]string{"web": "{replicas: 1}", "db": "{size: 1}"})
		overrideComponents(t, name, "{web: {values: {replicas: 2}}, db: {values: {size: 2}}}")
		came := runUntil(t, n, func(ctx context.Context) bool { return isReady(ctx, name) })
		startOperator(t)
		awaitComponentState(t, name, "web", metav1.ConditionTrue, "Succeeded")
		awaitComponentState(t, name, "db", metav1.ConditionTrue, "Succeeded")
		wantComponent(t, name, "web", "{replicas: 2}")
		wantComponent(t, name, "db", "{size: 2}")
		awaitPackageCondition(t, name, "overrides values of db, web")
		if err := operator.Stop(); err != nil {
			t.Fatal(err)
		}

		remove(t, sample("PackageValues", name))
		went := runUntil(t, n, func(ctx context.Context) bool { return isPlain(ctx, name) })
		startOperator(t)
		plain := raw{}
		plain.Spec.Values = json.RawMessage(`{"replicas":1}`)
		awaitPlain(t, name, "web", plain)
		if err := operator.Stop(); err != nil {
			t.Fatal(err)
		}
		died = came || went
	}
	t.Logf("killed at up to %d writes in %s", n-1, time.Since(began).Round(time.Second))
	startOperator(t)
}

// isReady says whether a PackageValues is, and its Package names it.
func isReady(ctx context.Context, name string) bool {
	values := &cozyv1.PackageValues{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, values); err != nil {
		return false
	}
	told, err := packageCondition(ctx, name)
	return err == nil && told != "" && apimeta.IsStatusConditionTrue(values.Status.Conditions, "Ready")
}

// isPlain says whether nothing is left of a PackageValues.
func isPlain(ctx context.Context, name string) bool {
	for _, component := range []string{"web", "db"} {
		found, err := readRaw(ctx, name, component)
		if err != nil && !apierrors.IsNotFound(err) || len(found.ours()) > 0 {
			return false
		}
	}
	told, err := packageCondition(ctx, name)
	return err == nil && told == ""
}
