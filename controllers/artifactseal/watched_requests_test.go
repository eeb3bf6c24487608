package artifactseal_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"
)

// roundTripper is a function that answers requests.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// isSealing says whether a request is one by which the operator seals or tells of it;
// dry runs among them.
func isSealing(request *http.Request) bool {
	return request.Method != http.MethodGet &&
		(strings.Contains(request.URL.Path, "/namespaces/cozy-fluxcd/networkpolicies") || strings.Contains(request.URL.Path, "/gitopsparameters/"))
}

// comparisons counts how often an operator has compared its policy with the stored one.
type comparisons struct{ count atomic.Int64 }

func (c *comparisons) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && isSealing(request) && request.URL.Query().Has("dryRun") {
				c.count.Add(1)
			}
			return response, err
		})
	})
}

// dyingOperator is an operator that dies with its n-th write of the seal: the API server
// carries the write out, the operator never hears of it, and nothing that it sends
// afterwards arrives.
type dyingOperator struct {
	left atomic.Int64
	over atomic.Bool
	dead chan struct{}
}

func dieAtWrite(n int) *dyingOperator {
	d := &dyingOperator{dead: make(chan struct{})}
	d.left.Store(int64(n))
	return d
}

var errKilled = errors.New("the operator has been killed")

func (d *dyingOperator) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if d.over.Load() {
				return nil, errKilled
			}
			if !isSealing(request) || request.URL.Query().Has("dryRun") || d.left.Add(-1) != 0 {
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
