package webhook_test

import (
	"context"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// liveConfiguration is the configuration by which Kustomizations are answered for.
func liveConfiguration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := cluster.Client.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, configuration)
	return configuration, err
}

// liveBundle is what the API server trusts when it calls for a Kustomization.
func liveBundle(t *testing.T) []byte {
	t.Helper()
	configuration, err := liveConfiguration(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return configuration.Webhooks[0].ClientConfig.CABundle
}

// setBundles has the API server trust another authority, as somebody else's injector
// does, or nobody at all.
func setBundles(t *testing.T, bundle []byte) {
	t.Helper()
	for _, configuration := range webhook.Configurations() {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(configuration), configuration); err != nil {
			t.Fatal(err)
		}
		switch typed := configuration.(type) {
		case *admissionregistrationv1.MutatingWebhookConfiguration:
			for i := range typed.Webhooks {
				typed.Webhooks[i].ClientConfig.CABundle = bundle
			}
		case *admissionregistrationv1.ValidatingWebhookConfiguration:
			for i := range typed.Webhooks {
				typed.Webhooks[i].ClientConfig.CABundle = bundle
			}
		}
		if err := cluster.Client.Update(t.Context(), configuration); err != nil {
			t.Fatal(err)
		}
	}
}

// certificatesSecret is what the replicas serve with.
func certificatesSecret(ctx context.Context, t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: harness.Config().Stamp.OperatorNamespace, Name: webhook.CertificatesSecret}
	if err := cluster.Client.Get(ctx, key, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// forgetCertificates has the next rotation begin anew.
func forgetCertificates(ctx context.Context, t *testing.T) {
	t.Helper()
	secret := certificatesSecret(ctx, t)
	secret.Data = nil
	if err := cluster.Client.Update(ctx, secret); err != nil {
		t.Fatal(err)
	}
}

// withRotation renews certificates for the length of a test.
func withRotation(t *testing.T, adjust func(*certs.Rotation)) {
	t.Helper()
	rotation, err := harness.NewRotation(t.Context(), cluster, harness.Config())
	if err != nil {
		t.Fatal(err)
	}
	if adjust != nil {
		adjust(rotation)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rotation.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the rotation ended with %v", err)
		}
	})
}
