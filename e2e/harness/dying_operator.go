package harness

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
)

// Dying is an operator that dies with its n-th write: the API server carries the write out, the
// operator never hears of it, and nothing that it sends afterwards arrives.
type Dying struct {
	left   atomic.Int64
	over   atomic.Bool
	counts func(*http.Request) bool
}

// ErrKilled is all that a dead operator hears.
var ErrKilled = errors.New("the operator has been killed")

// DieAtWrite returns one that dies with the n-th request that counts; IsLastingWrite says which
// do of those that an operator sends.
func DieAtWrite(n int, counts func(*http.Request) bool) *Dying {
	d := &Dying{counts: counts}
	d.left.Store(int64(n))
	return d
}

// IsLastingWrite says whether a request may change something that lasts: dry runs, events and
// access reviews do not.
func IsLastingWrite(request *http.Request) bool {
	return request.Method != http.MethodGet && request.URL.Query().Get("dryRun") == "" &&
		!strings.HasSuffix(request.URL.Path, "/events") && !strings.Contains(request.URL.Path, "/events/") &&
		!strings.HasSuffix(request.URL.Path, "/selfsubjectaccessreviews")
}

// Wrap stands between the operator and the API server.
func (d *Dying) Wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return RoundTripper(func(request *http.Request) (*http.Response, error) {
			if d.over.Load() {
				return nil, ErrKilled
			}
			if !d.counts(request) || d.left.Add(-1) != 0 {
				return next.RoundTrip(request)
			}
			response, err := next.RoundTrip(request)
			if err == nil {
				_ = response.Body.Close()
			}
			d.over.Store(true)
			return nil, ErrKilled
		})
	})
}

// RunUntil runs an operator, that start starts with Wrap, until it is dead or done is true, and
// says whether it died.
func (d *Dying) RunUntil(t *testing.T, start func() (*Operator, error), done func(context.Context) bool) (died bool) {
	t.Helper()
	o, err := start()
	if err != nil {
		t.Fatal(err)
	}
	Await(t, "the operator to die, or to come to its end", func(ctx context.Context) (bool, string) {
		died = d.over.Load()
		return died || done(ctx), "neither"
	})
	// A killed one does not stop in good order; its errors say only that.
	if err := o.Stop(); err != nil && !died {
		t.Fatal(err)
	}
	return died
}

// RoundTripper is a function that answers requests.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
