package webhook_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"testing"
	"time"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/certs"
)

// handshake asks an operator's webhook over a new connection, by the bundle that the
// API server goes by at that moment, and returns the certificate that was shown. The
// API server itself keeps its connections, and would see little of a rotation.
func handshake(ctx context.Context, t *testing.T, o *harness.Operator, namespace string) (*x509.Certificate, error) {
	t.Helper()
	caller, err := harness.WebhookClient(liveBundle(t), false)
	if err != nil {
		return nil, err
	}
	review, err := harness.KustomizationReview(namespace, kustomization(namespace, "asked"))
	if err != nil {
		return nil, err
	}
	answer, certificate, err := harness.Ask(ctx, caller, harness.WebhookURL(o.Webhooks.Port), review)
	if err == nil && (!answer.Allowed || len(answer.Patch) == 0) {
		err = fmt.Errorf("it stamped nothing: %+v", answer)
	}
	return certificate, err
}

// TestWritesPassThroughRotations lets both certificates live seconds, and writes while
// the authority is replaced twice and the certificate more often. No write may fail, by
// the API server or over a connection that has just been opened.
func TestWritesPassThroughRotations(t *testing.T) {
	forgetCertificates(t.Context(), t)
	o := startOperator(t, harness.Settings{Rotate: func(rotation *certs.Rotation) {
		rotation.Lives = certs.Lives{Authority: 24 * time.Second, Serving: 7 * time.Second}
	}})
	o.AwaitReady(t)
	// What comes after would be good for a year, and the tests that follow with it.
	t.Cleanup(func() { forgetCertificates(context.Background(), t) })
	tenant := harness.NewTenant(t, cluster.Client, "tenant-rotated")
	user := tenantUser(t, tenant)
	switchOn(t, tenant)

	var authorities, shown, issuers []string
	note := func(seen *[]string, what string) {
		if len(*seen) == 0 || (*seen)[len(*seen)-1] != what {
			*seen = append(*seen, what)
		}
	}
	count := 0
	harness.Await(t, "two rotations of the authority", func(ctx context.Context) (bool, string) {
		count++
		if err := user.Create(ctx, kustomization(tenant, fmt.Sprintf("at-%d", count))); err != nil {
			t.Errorf("write %d failed: %v", count, err)
		}
		certificate, err := handshake(ctx, t, o, tenant)
		if err != nil {
			t.Errorf("connection %d failed: %v", count, err)
			return false, err.Error()
		}
		note(&authorities, string(certificatesSecret(ctx, t).Data[certs.AuthorityKey]))
		note(&shown, certificate.SerialNumber.String())
		note(&issuers, certificate.Issuer.CommonName)
		return len(authorities) > 2 && len(issuers) > 2, fmt.Sprintf("%d authorities, %d certificates shown, of %d authorities", len(authorities), len(shown), len(issuers))
	})
	if len(shown) < 4 {
		t.Errorf("only %d certificates were shown", len(shown))
	}
	t.Logf("%d writes, %d new connections, %d authorities, %d certificates", count, count, len(authorities), len(shown))
}
