// Package certs makes the certificates that the API server knows the operator's
// webhooks by, and renews them. cert-manager is not needed.
package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "EC PRIVATE KEY"
	serialBits       = 120
)

// template is a certificate valid from a little before now, since clocks differ.
func template(name string, now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, fmt.Errorf("cannot draw a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-life / 20),
		NotAfter:     now.Add(life),
	}, nil
}

// newAuthority makes a self-signed authority.
func newAuthority(now time.Time, life time.Duration) (certificate, key []byte, err error) {
	authority, err := template(fmt.Sprintf("gitops-operator webhooks %d", now.UnixNano()), now, life)
	if err != nil {
		return nil, nil, err
	}
	authority.IsCA = true
	authority.BasicConstraintsValid = true
	authority.KeyUsage = x509.KeyUsageCertSign
	return sign(authority, nil)
}

// newServing makes a server's certificate for hosts; it ends with its authority.
func newServing(authority tls.Certificate, hosts []string, now time.Time, life time.Duration) (certificate, key []byte, err error) {
	serving, err := template(hosts[0], now, life)
	if err != nil {
		return nil, nil, err
	}
	if serving.NotAfter.After(authority.Leaf.NotAfter) {
		serving.NotAfter = authority.Leaf.NotAfter
	}
	serving.KeyUsage = x509.KeyUsageDigitalSignature
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			serving.IPAddresses = append(serving.IPAddresses, address)
		} else {
			serving.DNSNames = append(serving.DNSNames, host)
		}
	}
	return sign(serving, &authority)
}

// sign signs by itself what has no authority.
func sign(certificate *x509.Certificate, authority *tls.Certificate) (certificatePEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a key: %w", err)
	}
	parent, signer := certificate, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	signed, err := x509.CreateCertificate(rand.Reader, certificate, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot sign a certificate: %w", err)
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot encode a key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: encoded}), nil
}

// due says that two thirds of a certificate's life are over.
func due(certificate *x509.Certificate, now time.Time) bool {
	life := certificate.NotAfter.Sub(certificate.NotBefore)
	return now.After(certificate.NotBefore.Add(life / 3 * 2))
}

// unexpired returns the certificates of a bundle that still count.
func unexpired(bundle []byte, now time.Time) []byte {
	var kept bytes.Buffer
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil && now.Before(certificate.NotAfter) {
			kept.Write(pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: block.Bytes}))
		}
	}
	return kept.Bytes()
}

// Verify says why a client that trusts the bundle would not talk to a server that
// shows the certificate, under the name host.
func Verify(certificate *tls.Certificate, bundle []byte, host string, now time.Time) error {
	if certificate == nil || len(certificate.Certificate) == 0 {
		return errors.New("there is no certificate yet")
	}
	roots, chain := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("there is no certificate authority yet")
	}
	leaf, err := x509.ParseCertificate(certificate.Certificate[0])
	if err != nil {
		return fmt.Errorf("cannot parse the certificate: %w", err)
	}
	for _, link := range certificate.Certificate[1:] {
		if parsed, err := x509.ParseCertificate(link); err == nil {
			chain.AddCert(parsed)
		}
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: chain, DNSName: host, CurrentTime: now})
	return err
}

// names are the hosts that a certificate is for, sorted.
func names(certificate *x509.Certificate) []string {
	hosts := slices.Clone(certificate.DNSNames)
	for _, address := range certificate.IPAddresses {
		hosts = append(hosts, address.String())
	}
	slices.Sort(hosts)
	return hosts
}
