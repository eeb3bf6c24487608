package customizer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// dyingOperator is one that dies with its n-th write: the API server carries that out, the
// operator never hears of it, and nothing that it sends afterwards arrives.
type dyingOperator struct {
	left atomic.Int64
	over atomic.Bool
}

var errKilled = errors.New("the operator has been killed")

func (d *dyingOperator) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if d.over.Load() {
				return nil, errKilled
			}
			// What is only tried is no write.
			lasts := request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") && request.URL.Query().Get("dryRun") == ""
			if !lasts || d.left.Add(-1) != 0 {
				return next.RoundTrip(request)
			}
			response, err := next.RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			d.over.Store(true)
			return nil, errKilled
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// runUntil runs an operator that dies at its n-th write until it is dead, or until done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := &dyingOperator{}
	d.left.Store(int64(n))
	if err := start(t.Context(), &harness.Settings{Wrap: d.wrap}); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the operator to die, or to come to its end", func(ctx context.Context) (bool, string) {
		died = d.over.Load()
		return died || done(ctx), "neither"
	})
	if err := operator.Stop(); err != nil && !died {
		t.Fatal(err)
	}
	return died
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
	if err := start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
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
