package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rotation keeps a serving certificate, and the API server's trust in it, fresh.
// Every replica runs one; they meet in the Secret.
type Rotation struct {
	// Reader reads uncached; Writer writes.
	Reader client.Reader
	Writer client.Writer
	// Secret holds what all replicas share; it exists, maybe empty.
	Secret client.ObjectKey
	// Configuration is the MutatingWebhookConfiguration whose bundles are kept.
	Configuration string
	// Hosts the certificate is for.
	Hosts []string
	// Lives of the certificates, and how often to look at them.
	Lives    Lives
	Interval time.Duration

	current atomic.Pointer[tls.Certificate]
}

// NeedLeaderElection is false: every replica serves.
func (r *Rotation) NeedLeaderElection() bool { return false }

// Start looks at the certificates until the context ends.
func (r *Rotation) Start(ctx context.Context) error {
	ticker := time.NewTicker(r.Interval)
	defer ticker.Stop()
	for {
		// Another replica was faster: its certificate is read at the next look.
		if err := r.pass(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			ctrl.Log.WithName("certificates").Error(err, "cannot keep the webhook's certificate")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// GetCertificate is for a tls.Config.
func (r *Rotation) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if certificate := r.current.Load(); certificate != nil {
		return certificate, nil
	}
	return nil, errors.New("there is no certificate yet")
}

func (r *Rotation) pass(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := r.Reader.Get(ctx, r.Secret, secret); err != nil {
		return fmt.Errorf("cannot read the Secret of the certificates: %w", err)
	}
	renewed, changed, err := Renew(secret.Data, r.Hosts, r.Lives, time.Now())
	if err != nil {
		return err
	}
	if changed {
		secret.Data = renewed
		// With the resource version that was read: of two replicas one wins.
		if err := r.Writer.Update(ctx, secret); err != nil {
			return fmt.Errorf("cannot write the Secret of the certificates: %w", err)
		}
	}
	serving, err := tls.X509KeyPair(secret.Data[ServingCertificate], secret.Data[ServingKey])
	if err != nil {
		return fmt.Errorf("cannot parse the serving certificate: %w", err)
	}
	trusted, err := r.trust(ctx, &serving, secret.Data[BundleKey])
	if err != nil {
		return err
	}
	// The API server may take a moment to see a new bundle, so a certificate that the
	// bundle of before does not cover waits for the next look.
	if trusted || r.current.Load() == nil {
		r.current.Store(&serving)
	}
	return nil
}

// trust puts the bundle into the configuration, and says whether the one that was
// there before covers the certificate.
func (r *Rotation) trust(ctx context.Context, serving *tls.Certificate, bundle []byte) (trusted bool, err error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := r.Reader.Get(ctx, client.ObjectKey{Name: r.Configuration}, configuration); err != nil {
		return false, fmt.Errorf("cannot read the webhook configuration: %w", err)
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	operations := []operation{{"test", "/metadata/resourceVersion", configuration.ResourceVersion}}
	trusted = true
	for i, webhook := range configuration.Webhooks {
		trusted = trusted && Verify(serving, webhook.ClientConfig.CABundle, r.Hosts[0], time.Now()) == nil
		if !bytes.Equal(webhook.ClientConfig.CABundle, bundle) {
			operations = append(operations, operation{"add", fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), bundle})
		}
	}
	if len(operations) == 1 {
		return trusted, nil
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return false, fmt.Errorf("cannot encode the bundle: %w", err)
	}
	if err := r.Writer.Patch(ctx, configuration, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return false, fmt.Errorf("cannot put the bundle into the webhook configuration: %w", err)
	}
	return trusted, nil
}
