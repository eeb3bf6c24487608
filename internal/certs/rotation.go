package certs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rotation keeps the certificate in the Secret, and the API server's trust in it,
// fresh. It is a process of its own with an account of its own: whoever may write a
// webhook configuration may have the API server hand over any object to anybody, and
// no admission policy is asked about such configurations. The operator has no such right.
type Rotation struct {
	// Client reads from and writes to the API server, without a cache.
	Client client.Client
	// Secret is what the operator's replicas serve with; it exists, maybe empty.
	Secret client.ObjectKey
	// Configurations are those whose bundles are kept: a MutatingWebhookConfiguration
	// or ValidatingWebhookConfiguration each, with a name.
	Configurations []client.Object
	// Hosts the certificate is for.
	Hosts []string
	// Lives of the certificates, and how often to look at them.
	Lives    Lives
	Interval time.Duration
}

// Start looks at the certificates until the context ends.
func (r *Rotation) Start(ctx context.Context) error {
	ticker := time.NewTicker(r.Interval)
	defer ticker.Stop()
	for {
		// Somebody else was faster: what they wrote is read at the next look.
		if err := r.pass(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) {
			ctrl.Log.WithName("certificates").Error(err, "cannot keep the webhooks' certificate")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (r *Rotation) pass(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := r.Client.Get(ctx, r.Secret, secret); err != nil {
		return fmt.Errorf("cannot read the Secret of the certificates, which config/webhook brings: %w", err)
	}
	renewed, changed, err := Renew(secret.Data, r.Hosts, r.Lives, time.Now())
	if err != nil {
		return err
	}
	if changed {
		secret.Data = renewed
		// With the resource version that was read: of two writers one wins.
		if err := r.Client.Update(ctx, secret); err != nil {
			return fmt.Errorf("cannot write the Secret of the certificates: %w", err)
		}
	}
	var failed error
	for _, configuration := range r.Configurations {
		failed = errors.Join(failed, r.trust(ctx, configuration.DeepCopyObject().(client.Object), secret.Data[BundleKey]))
	}
	return failed
}

// trust puts the bundle into a configuration.
func (r *Rotation) trust(ctx context.Context, configuration client.Object, bundle []byte) error {
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(configuration), configuration); err != nil {
		return fmt.Errorf("cannot read the webhook configuration: %w", err)
	}
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	operations := []operation{{"test", "/metadata/resourceVersion", configuration.GetResourceVersion()}}
	for i, clientConfig := range clientConfigs(configuration) {
		if !bytes.Equal(clientConfig.CABundle, bundle) {
			operations = append(operations, operation{"add", fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i), bundle})
		}
	}
	if len(operations) == 1 {
		return nil
	}
	patch, err := json.Marshal(operations)
	if err != nil {
		return fmt.Errorf("cannot encode the bundle: %w", err)
	}
	if err := r.Client.Patch(ctx, configuration, client.RawPatch(types.JSONPatchType, patch)); err != nil {
		return fmt.Errorf("cannot put the bundle into the webhook configuration %s: %w", configuration.GetName(), err)
	}
	return nil
}

// clientConfigs are how the webhooks of a configuration are called, in its order.
func clientConfigs(configuration client.Object) []admissionregistrationv1.WebhookClientConfig {
	var found []admissionregistrationv1.WebhookClientConfig
	switch typed := configuration.(type) {
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for _, webhook := range typed.Webhooks {
			found = append(found, webhook.ClientConfig)
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for _, webhook := range typed.Webhooks {
			found = append(found, webhook.ClientConfig)
		}
	}
	return found
}
