package certs

import (
	"context"
	"crypto/tls"
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

// Check says why the API server would not talk to whoever serves with the certificate.
func (t Trust) Check(ctx context.Context, certificate *tls.Certificate) error {
	for _, named := range t.Configurations {
		configuration := named.DeepCopyObject().(client.Object)
		if err := t.Reader.Get(ctx, client.ObjectKeyFromObject(named), configuration); err != nil {
			return fmt.Errorf("cannot read the webhook configuration: %w", err)
		}
		for _, clientConfig := range clientConfigs(configuration) {
			if err := Verify(certificate, clientConfig.CABundle, t.Host, time.Now()); err != nil {
				return fmt.Errorf("the API server does not trust the certificate yet, by the webhook configuration %s: %w", configuration.GetName(), err)
			}
		}
	}
	return nil
}
