package fields_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/cozystack/gitops-operator/e2e/certificates"
)

// What `flux push artifact` gives its artifacts.
const (
	artifactConfig  = "application/vnd.cncf.flux.config.v1+json"
	artifactContent = "application/vnd.cncf.flux.content.v1.tar+gzip"
	manifestType    = "application/vnd.oci.image.manifest.v1+json"
)

// ociRegistry is a registry on loopback, over TLS, that asks for a password.
type ociRegistry struct {
	host      string
	authority string
	username  string

	mu       sync.Mutex
	password string
	client   *http.Client
}

func startRegistry(t *testing.T, username, password string) *ociRegistry {
	t.Helper()
	r := &ociRegistry{username: username, password: password}
	authority, err := certificates.NewAuthority("registry of tests")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(certificates.Subject{CommonName: "registry of tests", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.CertificatePEM, pair.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r.guard(registry.New(registry.Logger(log.New(io.Discard, "", 0)))))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.CertificatePEM)
	r.host, r.authority = server.Listener.Addr().String(), string(authority.CertificatePEM)
	r.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	return r
}

func (r *ociRegistry) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		username, password, _ := request.BasicAuth()
		if username != r.username || password != r.currentPassword() {
			w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, request)
	})
}

func (r *ociRegistry) currentPassword() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.password
}

func (r *ociRegistry) setPassword(password string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.password = password
}

// address is a source's, for a repository of the registry.
func (r *ociRegistry) address(repository string) string { return "oci://" + r.host + "/" + repository }

// login is the content of a Secret of type kubernetes.io/dockerconfigjson.
func (r *ociRegistry) login(password string) string {
	auth := base64.StdEncoding.EncodeToString([]byte(r.username + ":" + password))
	return fmt.Sprintf(`{"auths":{%q:{"username":%q,"password":%q,"auth":%q}}}`, r.host, r.username, password, auth)
}

// layer is a folder of files in an artifact.
type layer struct {
	mediaType string
	files     map[string]string
}

// descriptor points at a blob, as in an image's manifest.
type descriptor struct {
	MediaType string `json:"mediaType"`
	Digest    string `json:"digest"`
	Size      int    `json:"size"`
}

// push makes an artifact of layers, gives it a tag and returns its digest.
func (r *ociRegistry) push(t *testing.T, repository, tag string, layers ...layer) string {
	t.Helper()
	var described []descriptor
	for _, one := range layers {
		described = append(described, r.upload(t, repository, one.mediaType, archive(t, one.files)))
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     manifestType,
		"config":        r.upload(t, repository, artifactConfig, []byte("{}")),
		"layers":        described,
		"annotations": map[string]string{
			"org.opencontainers.image.source":   "https://git.example.org/acme/apps",
			"org.opencontainers.image.revision": "main@sha1:" + strings.Repeat("0", 40),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.request(t, http.MethodPut, "/v2/"+repository+"/manifests/"+tag, manifestType, manifest)
	return digestOf(manifest)
}

func (r *ociRegistry) upload(t *testing.T, repository, mediaType string, content []byte) descriptor {
	t.Helper()
	digest := digestOf(content)
	r.request(t, http.MethodPost, "/v2/"+repository+"/blobs/uploads/?digest="+url.QueryEscape(digest), "application/octet-stream", content)
	return descriptor{MediaType: mediaType, Digest: digest, Size: len(content)}
}

func (r *ociRegistry) request(t *testing.T, method, path, contentType string, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "https://"+r.host+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	request.SetBasicAuth(r.username, r.currentPassword())
	response, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusCreated {
		t.Fatalf("%s %s: the registry answers %s", method, path, response.Status)
	}
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// archive packs files as tar and gzip.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var content bytes.Buffer
	zipped := gzip.NewWriter(&content)
	packed := tar.NewWriter(zipped)
	for path, text := range files {
		header := &tar.Header{Name: path, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}
		if err := packed.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(packed, text); err != nil {
			t.Fatal(err)
		}
	}
	for _, closer := range []io.Closer{packed, zipped} {
		if err := closer.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return content.Bytes()
}
