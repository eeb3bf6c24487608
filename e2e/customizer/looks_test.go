package customizer_test

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// counter counts how often the operator reads each Customizer: once for each look.
type counter struct {
	mu   sync.Mutex
	gets map[string]int
}

func newCounter() *counter { return &counter{gets: map[string]int{}} }

func (c *counter) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			if name, ok := strings.CutPrefix(request.URL.Path, "/apis/gitops.cozystack.io/v1alpha1/customizers/"); ok && request.Method == http.MethodGet {
				c.mu.Lock()
				c.gets[name]++
				c.mu.Unlock()
			}
			return next.RoundTrip(request)
		})
	})
}

func (c *counter) seen() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.gets)
}
