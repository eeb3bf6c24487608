package main

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// floor is the least that a webhook can do: it reads what it is asked, and allows it.
type floor struct {
	server *http.Server
	ended  chan error
	// port on loopback, and what a caller trusts.
	port   int
	bundle []byte
}

func startFloor() (*floor, error) {
	authority, err := certificates.NewAuthority("floor")
	if err != nil {
		return nil, err
	}
	pair, err := authority.Issue(certificates.Subject{CommonName: "floor", Hosts: []string{harness.Loopback}})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.CertificatePEM, pair.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("read the floor's certificate: %w", err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(harness.Loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for the floor: %w", err)
	}
	f := &floor{
		ended: make(chan error, 1), port: listener.Addr().(*net.TCPAddr).Port, bundle: authority.CertificatePEM,
		server: &http.Server{
			Handler: http.HandlerFunc(allow), ReadHeaderTimeout: time.Minute,
			TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13},
		},
	}
	go func() { f.ended <- f.server.ServeTLS(listener, "", "") }()
	return f, nil
}

func (f *floor) stop() error {
	if err := f.server.Close(); err != nil {
		return fmt.Errorf("stop the floor: %w", err)
	}
	if err := <-f.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the floor: %w", err)
	}
	return nil
}

func allow(answer http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(answer, "no review", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	review.Request = nil
	answer.Header().Set("Content-Type", "application/json")
	// A caller that has gone away misses nothing.
	_ = json.NewEncoder(answer).Encode(&review)
}
