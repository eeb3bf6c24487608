package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Shared is the certificate that all replicas of the operator serve with, read from
// the Secret that a Rotation keeps. It is not mounted, since a kubelet takes a minute
// to bring a Secret's new content, and the first start would take as long.
type Shared struct {
	// Secret that holds it.
	Secret client.ObjectKey
	// Trust that a new certificate waits for.
	Trust Trust
	// Interval at which it is looked at.
	Interval time.Duration

	current atomic.Pointer[tls.Certificate]
	// candidate was trusted at the last look. The API server may take a moment to go by a
	// new bundle, so what replaces a good certificate waits for another look.
	candidate *tls.Certificate
	// problem is why there is none.
	problem atomic.Pointer[error]
}

// NeedLeaderElection is false: every replica serves.
func (s *Shared) NeedLeaderElection() bool { return false }

// Start looks at the Secret until the context ends.
func (s *Shared) Start(ctx context.Context) error {
	ticker := time.NewTicker(s.Interval)
	defer ticker.Stop()
	for {
		err := s.pass(ctx)
		s.problem.Store(&err)
		if err != nil && ctx.Err() == nil {
			ctrl.Log.WithName("certificates").Info("waiting for a certificate to serve webhooks with", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// GetCertificate is for a tls.Config.
func (s *Shared) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if certificate := s.current.Load(); certificate != nil {
		return certificate, nil
	}
	if problem := s.problem.Load(); problem != nil && *problem != nil {
		return nil, *problem
	}
	return nil, errors.New("there is no certificate yet")
}

// pass takes a new certificate into use once the API server trusts it.
func (s *Shared) pass(ctx context.Context) error {
	secret := &corev1.Secret{}
	if err := s.Trust.Reader.Get(ctx, s.Secret, secret); err != nil {
		return fmt.Errorf("cannot read the Secret of the certificates, which config/webhook brings: %w", err)
	}
	if len(secret.Data[ServingCertificate]) == 0 {
		return fmt.Errorf("the Secret %s is empty: see that the Deployment gitops-operator-certificates runs", s.Secret)
	}
	serving, err := tls.X509KeyPair(secret.Data[ServingCertificate], secret.Data[ServingKey])
	if err != nil {
		// Its text may hold what it could not parse.
		return fmt.Errorf("the Secret %s holds no certificate with its key", s.Secret)
	}
	if current := s.current.Load(); current != nil && current.Leaf.Equal(serving.Leaf) {
		return nil
	}
	if err := s.Trust.Check(ctx, &serving); err != nil {
		return err
	}
	if s.current.Load() != nil && (s.candidate == nil || !s.candidate.Leaf.Equal(serving.Leaf)) {
		s.candidate = &serving
		return nil
	}
	s.current.Store(&serving)
	return nil
}
