package artifactseal_test

import (
	"net/http"
	"strings"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

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
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && isSealing(request) && request.URL.Query().Has("dryRun") {
				c.count.Add(1)
			}
			return response, err
		})
	})
}
