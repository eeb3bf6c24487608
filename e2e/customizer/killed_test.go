package customizer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// runUntil runs an operator that dies at its n-th write until it is dead, or until done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := harness.DieAtWrite(n, harness.IsLastingWrite)
	return d.RunUntil(t, func() (*harness.Operator, error) {
		err := start(t.Context(), &harness.Settings{Wrap: d.Wrap})
		return operator, err
	}, done)
}

// TestKilledAtEachWrite kills an operator at its first write, the next one at its second, and so
// on: while a Customizer comes, while its profile and namespaces change, and while it goes. The
// next operator comes to the same end.
func TestKilledAtEachWrite(t *testing.T) {
	stopOperator(t)
	const limit = 40
	began := time.Now()
	n := 1
	for died := true; died; n++ {
		if n > limit {
			t.Fatalf("after %d writes the operator has not come to its end", limit)
		}
		died = killedAt(t, n)
	}
	t.Logf("killed at up to %d writes in %s", n-1, time.Since(began).Round(time.Second))
	startOperator(t)
}

func killedAt(t *testing.T, n int) bool {
	t.Helper()
	name := fmt.Sprintf("killed-%d", n)
	owned := "acme-" + name
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme." + name), "b.yaml": configMap(owned, "b")})
	c.Spec.RBAC.OwnedNamespaces = []string{owned}
	create(t, c)
	came := runUntil(t, n, func(ctx context.Context) bool { return isReady(ctx, name) })
	startOperator(t)
	first := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status
	wantThere(t, configMapOf(owned, "b"))
	stopForNow(t)

	change(t, c, func(spec *gitopsv1.CustomizerSpec) {
		spec.RBAC = gitopsv1.CustomizerRBAC{Profile: gitopsv1.ProfileOverridesOnly}
	})
	// It may not write what it has in its namespace any more.
	generation := read(t, name).Generation
	changed := runUntil(t, n, func(ctx context.Context) bool {
		c := &gitopsv1.Customizer{}
		return cluster.Client.Get(ctx, client.ObjectKey{Name: name}, c) == nil && c.Status.ObservedGeneration == generation
	})
	startOperator(t)
	request(t, name)
	second := awaitState(t, name, metav1.ConditionFalse, "ReconciliationFailed", "forbidden").Status
	if second.Account != first.Account {
		t.Errorf("its account was %s and is %s", first.Account, second.Account)
	}
	stopForNow(t)

	if err := cluster.Client.Delete(t.Context(), c.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	gone := func(ctx context.Context) bool {
		return apierrors.IsNotFound(cluster.Client.Get(ctx, client.ObjectKey{Name: name}, &gitopsv1.Customizer{}))
	}
	went := runUntil(t, n, gone)
	startOperator(t)
	harness.AwaitGone(t, cluster.Client, &gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if left := leftovers(t, name); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	wantThere(t, configMapOf(owned, "b"))
	stopForNow(t)
	return came || changed || went
}

func stopForNow(t *testing.T) {
	t.Helper()
	if err := operator.Stop(); err != nil {
		t.Fatal(err)
	}
}

func isReady(ctx context.Context, name string) bool {
	c := &gitopsv1.Customizer{}
	return cluster.Client.Get(ctx, client.ObjectKey{Name: name}, c) == nil && apimeta.IsStatusConditionTrue(c.Status.Conditions, "Ready")
}
