package harness

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/webhook"
)

// WebhookClient calls webhooks as the API server does: it trusts what a bundle covers,
// and nothing else. Each request is a connection of its own, unless they are kept.
func WebhookClient(bundle []byte, keepConnections bool) (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("the bundle holds no certificate")
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
		DisableKeepAlives: !keepConnections, ForceAttemptHTTP2: keepConnections,
	}}, nil
}

// KustomizationReview is what the API server asks when a user without a group creates a
// Kustomization.
func KustomizationReview(namespace string, object client.Object) ([]byte, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", object.GetName(), err)
	}
	kind := metav1.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
	resource := metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "kustomizations"}
	return json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: uuid.NewUUID(), Kind: kind, Resource: resource, RequestKind: &kind, RequestResource: &resource,
			Name: object.GetName(), Namespace: namespace, Operation: admissionv1.Create,
			UserInfo: authenticationv1.UserInfo{Username: "ann", Groups: []string{"system:authenticated"}},
			Object:   runtime.RawExtension{Raw: raw},
		},
	})
}

// WebhookURL is where an operator that listens on a port of loopback answers for
// Kustomizations.
func WebhookURL(port int) string {
	return "https://" + net.JoinHostPort(Loopback, strconv.Itoa(port)) + webhook.KustomizationsPath
}

// Ask puts a review to a webhook, and returns its answer and the certificate that it
// was given under.
func Ask(ctx context.Context, caller *http.Client, address string, review []byte) (*admissionv1.AdmissionResponse, *x509.Certificate, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(review))
	if err != nil {
		return nil, nil, fmt.Errorf("ask the webhook: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := caller.Do(request)
	if err != nil {
		return nil, nil, fmt.Errorf("ask the webhook: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, nil, fmt.Errorf("read the webhook's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK || answer.Response == nil {
		return nil, nil, fmt.Errorf("the webhook answered %s, and nothing to the question", response.Status)
	}
	return answer.Response, response.TLS.PeerCertificates[0], nil
}
