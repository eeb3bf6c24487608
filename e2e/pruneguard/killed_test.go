package pruneguard_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

var errKilled = errors.New("the operator has been killed")

// killedAt is an operator that dies before it sends a write to a Kustomization with a
// part in it: nothing of what it sends from then on arrives.
type killedAt struct {
	part string
	dead chan struct{}
	once sync.Once
}

func (k *killedAt) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			select {
			case <-k.dead:
				return nil, errKilled
			default:
			}
			if request.Method == http.MethodPatch && request.URL.Query().Get("dryRun") == "" && strings.Contains(request.URL.Path, "/kustomizations/") {
				content, err := io.ReadAll(request.Body)
				if err != nil {
					return nil, err
				}
				request.Body = io.NopCloser(bytes.NewReader(content))
				if bytes.Contains(content, []byte(k.part)) {
					k.once.Do(func() { close(k.dead) })
					return nil, errKilled
				}
			}
			return next.RoundTrip(request)
		})
	})
}

// restart ends the operator that all tests share and starts another one in its place. It
// runs while no other test does.
func restart(t *testing.T, wrap func(*rest.Config)) {
	t.Helper()
	// What was cut off from the API server has no good end.
	_ = operator.Stop()
	next, err := harness.Start(t.Context(), cluster, harness.Config(), wrap)
	if err != nil {
		t.Fatal(err)
	}
	operator = next
	operator.AwaitReady(t)
}

// TestKilledBetweenRefusalAndGrant kills the operator when it has decided and not written
// the grant, and when it has written the grant and not asked Flux. The next one goes on
// where that one was, although Flux would try again only a day later.
func TestKilledBetweenRefusalAndGrant(t *testing.T) {
	const namespace = "tenant-killed"
	operator.AwaitReady(t)
	repository, commit := newTenant(t, namespace, manifests("apps", 10))
	write(t, namespace, folder(t, namespace, "apps", repository))
	awaitApplied(t, namespace, "apps", commit)
	left := 10
	for _, part := range []string{`"` + stamp.PruneGrantedAnnotation + `"`, `"` + meta.ReconcileRequestAnnotation + `"`} {
		killed := &killedAt{part: part, dead: make(chan struct{})}
		// The tenant's own request is one, too: Flux is to hear of the commit otherwise.
		pruned := harness.Commit(t, repository, nil, file("apps", left-1))
		restart(t, killed.wrap)
		fetchNow(t, namespace, "apps")
		select {
		case <-killed.dead:
		case <-time.After(harness.Patience):
			t.Fatalf("the operator never sent %s", part)
		}
		awaitApplications(t, namespace, left)
		restart(t, nil)
		left--
		awaitApplications(t, namespace, left)
		awaitApplied(t, namespace, "apps", pruned)
		wantNoGrant(t, namespace, "apps")
	}
}
