package packagevalues_test

import (
	"context"
	"encoding/json"
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

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// dyingOperator is one that dies with its n-th write: the API server carries that out, the
// operator never hears of it, and nothing that it sends afterwards arrives.
type dyingOperator struct {
	left atomic.Int64
	dead chan struct{}
	over atomic.Bool
}

var errKilled = errors.New("the operator has been killed")

func (d *dyingOperator) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if d.over.Load() {
				return nil, errKilled
			}
			lasts := request.Method != http.MethodGet && !strings.HasSuffix(request.URL.Path, "/events")
			if !lasts || d.left.Add(-1) != 0 {
				return next.RoundTrip(request)
			}
			response, err := next.RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			d.over.Store(true)
			close(d.dead)
			return nil, errKilled
		})
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// runUntil runs an operator that dies at its n-th write until it is dead, or until done.
func runUntil(t *testing.T, n int, done func(context.Context) bool) (died bool) {
	t.Helper()
	d := &dyingOperator{dead: make(chan struct{})}
	d.left.Store(int64(n))
	o, err := harness.Start(t.Context(), cluster, harness.Config(), d.wrap)
	if err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the operator to die, or to come to its end", func(ctx context.Context) (bool, string) {
		died = d.over.Load()
		return died || done(ctx), "neither"
	})
	if err := o.Stop(); err != nil && !died {
		t.Fatal(err)
	}
	return died
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
	restart(t.Context(), t)
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
