package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// looks counts how often an operator reads the Secret of its certificate.
type looks struct{ count atomic.Int64 }

func (l *looks) wrap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harness.RoundTripper(func(request *http.Request) (*http.Response, error) {
			if strings.HasSuffix(request.URL.Path, "/secrets/"+webhook.CertificatesSecret) {
				l.count.Add(1)
			}
			return next.RoundTrip(request)
		})
	})
}

// TestNewCertificateWaitsUntilTrusted puts a certificate of another authority into the
// Secret, and the authority into the configuration only later: until then the operator
// goes on with the one before.
func TestNewCertificateWaitsUntilTrusted(t *testing.T) {
	var looked looks
	stop(t, harness.WithOperator(t, cluster, harness.Config()))
	o := startOperator(t, harness.Settings{WithoutRotation: true, Wrap: looked.wrap})
	o.AwaitReady(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-patient")
	switchOn(t, tenant)
	before, err := handshake(t.Context(), t, o, tenant)
	if err != nil {
		t.Fatal(err)
	}

	forgetCertificates(t.Context(), t)
	withRotation(t, func(rotation *certs.Rotation) { rotation.Configurations = nil })
	harness.Await(t, "another certificate in the Secret", func(ctx context.Context) (bool, string) {
		return len(certificatesSecret(ctx, t).Data[certs.ServingCertificate]) > 0, "none"
	})
	seen := looked.count.Load()
	harness.Await(t, "the operator to have looked at it more than once", func(ctx context.Context) (bool, string) {
		shown, err := handshake(ctx, t, o, tenant)
		if err != nil || !shown.Equal(before) {
			t.Errorf("it serves with what the API server does not trust: %v", err)
			return true, ""
		}
		// The first of these may have begun before the certificate was there.
		now := looked.count.Load()
		return now > seen+3, fmt.Sprintf("%d looks", now-seen)
	})
	if err := o.Ready(t.Context(), trustedCheck); err != nil {
		t.Error(err)
	}

	withRotation(t, nil)
	harness.Await(t, "the new certificate to be served", func(ctx context.Context) (bool, string) {
		shown, err := handshake(ctx, t, o, tenant)
		return err == nil && !shown.Equal(before), fmt.Sprint("still the one before, ", err)
	})
}
