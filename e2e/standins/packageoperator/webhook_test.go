package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// overriding is a webhook that puts the value "overridden" into the key "over" of the
// values of those HelmReleases that a label selects. Where it does not run, they cannot
// be written.
type overriding struct {
	address     string
	certificate tls.Certificate
	server      *http.Server
}

// override lays in the webhook's configuration, for HelmReleases with the label
// example.org/webhook of this value, and starts the webhook.
func override(t *testing.T, label string) *overriding {
	t.Helper()
	authority, err := certificates.NewAuthority("overriding")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(certificates.Subject{CommonName: "overriding", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	port, err := embedded.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	o := &overriding{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	if o.certificate, err = tls.X509KeyPair(pair.CertificatePEM, pair.KeyPEM); err != nil {
		t.Fatal(err)
	}
	o.start(t)
	t.Cleanup(func() { o.stop(t) })
	configure(t, label, "https://"+o.address, authority.CertificatePEM, func(webhook *admissionregistrationv1.MutatingWebhook) {
		webhook.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"example.org/webhook": label}}
	})
	return o
}

// configure lays in a webhook, and takes it away when the test has ended.
func configure(t *testing.T, name, url string, authority []byte, adapt func(*admissionregistrationv1.MutatingWebhook)) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	webhook := admissionregistrationv1.MutatingWebhook{
		Name:         name + ".example.org",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
			Rule:       admissionregistrationv1.Rule{APIGroups: []string{"helm.toolkit.fluxcd.io"}, APIVersions: []string{"v2"}, Resources: []string{"helmreleases"}},
		}},
		FailurePolicy:           new(admissionregistrationv1.Fail),
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}
	adapt(&webhook)
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: webhook.Name}, Webhooks: []admissionregistrationv1.MutatingWebhook{webhook},
	}
	if err := cluster.Client.Create(t.Context(), configuration); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Client.Delete(context.Background(), configuration); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return configuration
}

// start serves the webhook, again if it was stopped.
func (o *overriding) start(t *testing.T) {
	t.Helper()
	listener, err := tls.Listen("tcp", o.address, &tls.Config{Certificates: []tls.Certificate{o.certificate}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	o.server = &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}
	// It always ends with an error, that of its stop.
	go func() { _ = o.server.Serve(listener) }()
}

// stop ends the webhook, with the connections that the API server keeps.
func (o *overriding) stop(t *testing.T) {
	t.Helper()
	if err := o.server.Close(); err != nil {
		t.Error(err)
	}
}

func answer(w http.ResponseWriter, request *http.Request) {
	review := admissionv1.AdmissionReview{}
	release := &unstructured.Unstructured{}
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(review.Request.Object.Raw, &release.Object); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// An error is of a spec without values.
	values, _, _ := unstructured.NestedMap(release.Object, "spec", "values")
	if values == nil {
		values = map[string]any{}
	}
	values["over"] = "overridden"
	patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/values", "value": values}})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{
		UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: new(admissionv1.PatchTypeJSONPatch),
	}
	review.Request = nil
	w.Header().Set("Content-Type", "application/json")
	// The API server reports what it cannot read.
	_ = json.NewEncoder(w).Encode(review)
}

// awaitOverride puts the label on a release until the webhook is heeded.
func awaitOverride(t *testing.T, release *unstructured.Unstructured, label string) {
	t.Helper()
	harness.Await(t, "the webhook to be heeded", func(ctx context.Context) (bool, string) {
		patch := fmt.Sprintf("metadata: {labels: {example.org/webhook: %s, example.org/look: at-%d}}", label, time.Now().UnixNano())
		if err := cluster.Client.Patch(ctx, release, mergePatch(t, patch)); err != nil {
			return false, err.Error()
		}
		over, _, err := unstructured.NestedString(release.Object, "spec", "values", "over")
		return err == nil && over == "overridden", fmt.Sprint(over, err)
	})
}
