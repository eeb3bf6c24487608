package tenantgitops_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// passCounter counts the tenants that an operator has come to the end with: the
// last object of a pass over a tenant is its Kustomization.
type passCounter struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (p *passCounter) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = map[string]bool{}
}

func (p *passCounter) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err == nil && request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "/kustomizations/") {
				p.mu.Lock()
				p.seen[request.URL.Path] = true
				p.mu.Unlock()
			}
			return response, err
		})
	})
}

func (p *passCounter) await(t *testing.T, tenants int) {
	t.Helper()
	harness.Await(t, "every tenant to be looked at", func(context.Context) (bool, string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.seen) >= tenants, fmt.Sprintf("%d of %d", len(p.seen), tenants)
	})
}
