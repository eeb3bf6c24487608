package packagevalues_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// overtaken is an operator that somebody else overtakes: before its first writes of some
// statuses arrive, their objects are written.
type overtaken struct {
	// write is what is done before a write, by its method and path.
	write map[string]func() error

	mu    sync.Mutex
	codes map[string][]int
}

func (o *overtaken) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			asked := request.Method + " " + request.URL.Path
			write, found := o.write[asked]
			if !found {
				return next.RoundTrip(request)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if len(o.codes[asked]) == 0 {
				if err := write(); err != nil {
					return nil, err
				}
			}
			response, err := next.RoundTrip(request)
			if err == nil {
				o.codes[asked] = append(o.codes[asked], response.StatusCode)
			}
			return response, err
		})
	})
}

func (o *overtaken) answered(asked string) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]int(nil), o.codes[asked]...)
}

// TestConflictIsNoError: where somebody else writes at the same moment, the operator writes
// again a little later, and logs no error.
func TestConflictIsNoError(t *testing.T) {
	operator.AwaitReady(t)
	const name = "conflict"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	stopOperator(t)
	bump := func(kind string) func() error {
		o := object(t, kind, name, "{}")
		return func() error {
			return tryPatch(context.Background(), t, o, "metadata: {annotations: {example.org/own: x}}")
		}
	}
	const status = "PUT /apis/cozystack.io/v1alpha1/packagevalues/" + name + "/status"
	const told = "PATCH /apis/cozystack.io/v1alpha1/packages/" + name + "/status"
	o := &overtaken{write: map[string]func() error{status: bump("PackageValues"), told: bump("Package")}, codes: map[string][]int{}}
	started, err := harness.Start(t.Context(), cluster, harness.Config(), o.wrap)
	if err != nil {
		t.Fatal(err)
	}
	operator = started
	operator.AwaitReady(t)
	before := harness.Reconciliations(t, "packagevalues", "error")
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	awaitPackageCondition(t, name, "PackageValues "+name)
	for _, asked := range []string{status, told} {
		if codes := o.answered(asked); len(codes) < 2 || codes[0] != http.StatusConflict {
			t.Errorf("%s was answered with %v: nobody has overtaken it", asked, codes)
		}
	}
	if after := harness.Reconciliations(t, "packagevalues", "error"); after != before {
		t.Errorf("%v errors were logged", after-before)
	}
}
