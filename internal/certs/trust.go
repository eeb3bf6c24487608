package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Trust is what the API server is told to trust.
type Trust struct {
	// Reader reads uncached.
	Reader client.Reader
	// Configurations are those that are looked at, as in Rotation.
	Configurations []client.Object
	// Host that the API server calls.
	Host string
}

// unreadError says that nothing is known, neither good nor bad.
type unreadError struct{ error }

// IsUnread says whether a Check could not look.
func IsUnread(err error) bool { return errors.As(err, new(unreadError)) }

// Check says why the API server would not talk to whoever serves with the certificate.
func (t Trust) Check(ctx context.Context, certificate *tls.Certificate) error {
	for _, named := range t.Configurations {
		configuration := named.DeepCopyObject().(client.Object)
		if err := t.Reader.Get(ctx, client.ObjectKeyFromObject(named), configuration); err != nil {
			return unreadError{fmt.Errorf("cannot read the webhook configuration: %w", err)}
		}
		if len(clientConfigs(configuration)) == 0 {
			return fmt.Errorf("the webhook configuration %s has no webhooks, so that nobody asks: apply config/webhook again", configuration.GetName())
		}
		for _, clientConfig := range clientConfigs(configuration) {
			if err := Verify(certificate, clientConfig.CABundle, t.Host, time.Now()); err != nil {
				return fmt.Errorf("the API server does not trust the certificate yet, by the webhook configuration %s: %w", configuration.GetName(), err)
			}
		}
	}
	return nil
}
