package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

const (
	servesCheck  = "webhook"
	trustedCheck = "webhook-trusted"
)

// awaitNotTrusted waits until an operator that serves is not ready, for want of trust
// alone, which the check says in so many words.
func awaitNotTrusted(t *testing.T, o *harness.Operator, why string) {
	t.Helper()
	harness.Await(t, "the operator not to be ready: "+why, func(ctx context.Context) (bool, string) {
		// The probe itself tells the reason to the log only; a check that fails is named.
		whole := o.Ready(ctx)
		if whole == nil || !strings.Contains(whole.Error(), "[-]"+trustedCheck) || strings.Count(whole.Error(), "[-]") != 1 {
			return false, fmt.Sprint(whole)
		}
		if err := o.Ready(ctx, servesCheck); err != nil {
			return false, fmt.Sprint(err)
		}
		single := o.Ready(ctx, trustedCheck)
		return single != nil && strings.Contains(single.Error(), why), fmt.Sprint(single)
	})
}

// TestReadyOnlyWhileTrusted takes the API server's trust away from an operator that
// serves, twice, and lets it be repaired.
func TestReadyOnlyWhileTrusted(t *testing.T) {
	// So that there is something to repair to.
	stop(t, harness.WithOperator(t, cluster, harness.Config()))
	o := startOperator(t, harness.Settings{WithoutRotation: true})
	o.AwaitReady(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-trust")
	user := tenantUser(t, tenant)
	switchOn(t, tenant)
	if err := user.Create(t.Context(), kustomization(tenant, "before")); err != nil {
		t.Fatal(err)
	}

	setBundles(t, nil)
	awaitNotTrusted(t, o, "there is no certificate authority yet")
	stranger, err := certificates.NewAuthority("a stranger")
	if err != nil {
		t.Fatal(err)
	}
	setBundles(t, stranger.CertificatePEM)
	awaitNotTrusted(t, o, "certificate signed by unknown authority")
	harness.Await(t, "the API server not to trust the operator", func(ctx context.Context) (bool, string) {
		err := user.Create(ctx, kustomization(tenant, "meanwhile"), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "certificate signed by unknown authority"), fmt.Sprint(err)
	})

	withRotation(t, nil)
	o.AwaitReady(t)
	harness.Await(t, "the API server to trust the operator", func(ctx context.Context) (bool, string) {
		err := user.Create(ctx, kustomization(tenant, "after"))
		return err == nil, fmt.Sprint(err)
	})
}

// TestBothKindsOfConfigurationAreTrusted has the bundle put into a configuration that
// validates as well as into the one that mutates.
func TestBothKindsOfConfigurationAreTrusted(t *testing.T) {
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.ConfigurationName}}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: webhook.ConfigurationName}}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(validating), validating); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	} else if err != nil {
		nowhere := "https://127.0.0.1:1/"
		none := admissionregistrationv1.SideEffectClassNone
		// Two, since each has a bundle; no rule, so that nobody is called.
		for _, name := range []string{"first.example.org", "second.example.org"} {
			validating.Webhooks = append(validating.Webhooks, admissionregistrationv1.ValidatingWebhook{
				Name: name, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &nowhere},
			})
		}
		if err := cluster.Client.Create(t.Context(), validating); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cluster.Client.Delete(context.Background(), validating) })
	}
	setBundles(t, nil)
	withRotation(t, func(rotation *certs.Rotation) {
		rotation.Configurations = []client.Object{mutating, validating}
	})
	harness.Await(t, "the bundle in both kinds", func(ctx context.Context) (bool, string) {
		bundle := certificatesSecret(ctx, t).Data[certs.BundleKey]
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(validating), validating); err != nil {
			return false, err.Error()
		}
		missing := 0
		for _, hook := range validating.Webhooks {
			if len(bundle) == 0 || !bytes.Equal(hook.ClientConfig.CABundle, bundle) {
				missing++
			}
		}
		return missing == 0 && bytes.Equal(liveBundle(t), bundle), fmt.Sprintf("%d validating webhooks without it", missing)
	})
}
