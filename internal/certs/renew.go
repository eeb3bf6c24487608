package certs

import (
	"crypto/tls"
	"maps"
	"slices"
	"time"
)

// Keys of the Secret that all replicas share.
const (
	// BundleKey holds the authorities to trust, the one that signs first.
	BundleKey = "ca.crt"
	// AuthorityKey is the key of the authority that signs.
	AuthorityKey = "ca.key"
	// ServingCertificate and ServingKey are what the webhooks serve with.
	ServingCertificate = "tls.crt"
	ServingKey         = "tls.key"
)

// Lives are how long certificates are valid. A serving certificate must live
// less than a third of its authority, since it is used on after the authority's
// successor has begun to sign.
type Lives struct {
	Authority, Serving time.Duration
}

// DefaultLives are a year, and a quarter of one.
func DefaultLives() Lives {
	const day = 24 * time.Hour
	return Lives{Authority: 365 * day, Serving: 90 * day}
}

// Renew returns the Secret's data with everything replaced that is missing, broken
// or has lived two thirds of its life, and whether that changed anything. An
// authority's successor is put before it in the bundle, and both are trusted.
func Renew(data map[string][]byte, hosts []string, lives Lives, now time.Time) (map[string][]byte, bool, error) {
	renewed := maps.Clone(data)
	if renewed == nil {
		renewed = map[string][]byte{}
	}
	changed := false
	authority, err := tls.X509KeyPair(renewed[BundleKey], renewed[AuthorityKey])
	if err != nil || due(authority.Leaf, now) {
		certificate, key, err := newAuthority(now, lives.Authority)
		if err != nil {
			return nil, false, err
		}
		renewed[BundleKey] = append(certificate, unexpired(renewed[BundleKey], now)...)
		renewed[AuthorityKey] = key
		if authority, err = tls.X509KeyPair(certificate, key); err != nil {
			return nil, false, err
		}
		changed = true
	}
	wanted := slices.Sorted(slices.Values(hosts))
	serving, err := tls.X509KeyPair(renewed[ServingCertificate], renewed[ServingKey])
	if err != nil || due(serving.Leaf, now) || !slices.Equal(names(serving.Leaf), wanted) || Verify(&serving, renewed[BundleKey], hosts[0], now) != nil {
		renewed[ServingCertificate], renewed[ServingKey], err = newServing(authority, hosts, now, lives.Serving)
		if err != nil {
			return nil, false, err
		}
		changed = true
	}
	return renewed, changed, nil
}
