package credentials

import (
	"bytes"
	"fmt"

	"filippo.io/age"

	"github.com/cozystack/gitops-operator/internal/names"
)

// AgeKey is the data of the age identity's Secret and its recipient.
type AgeKey struct {
	// Data of the Secret.
	Data map[string][]byte
	// Recipient is what to encrypt for.
	Recipient string
	// Generated says that the identity is new.
	Generated bool
}

// EnsureAgeKey keeps the identity in data, or makes a new one where there is
// none. An identity that is there and cannot be read is an error and never
// replaced: whatever was encrypted for it would be lost.
func EnsureAgeKey(data map[string][]byte) (AgeKey, error) {
	if stored := data[names.AgeSecretKey]; len(stored) > 0 {
		identities, err := age.ParseIdentities(bytes.NewReader(stored))
		if err == nil && len(identities) > 0 {
			if identity, ok := identities[0].(*age.X25519Identity); ok {
				return AgeKey{Data: data, Recipient: identity.Recipient().String()}, nil
			}
		}
		return AgeKey{}, fmt.Errorf("key %s of Secret %s holds no age X25519 identity: restore it from a backup, or delete the Secret to have a new one made (files encrypted for the old one must be encrypted again)", names.AgeSecretKey, names.AgeSecret)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return AgeKey{}, fmt.Errorf("cannot generate an age identity: %w", err)
	}
	return AgeKey{
		Data:      map[string][]byte{names.AgeSecretKey: []byte(identity.String() + "\n")},
		Recipient: identity.Recipient().String(),
		Generated: true,
	}, nil
}
