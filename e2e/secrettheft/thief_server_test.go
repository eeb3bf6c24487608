package secrettheft_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// thiefServer is what a thief runs: it asks everybody for credentials, and keeps all that
// it is told.
type thiefServer struct {
	// plain and encrypted are its host and port without and with TLS.
	plain, encrypted string
	// repository is one that the thief serves elsewhere, and whose files can be fetched.
	repository string
	// authority signed its certificate, in PEM.
	authority string

	mu   sync.Mutex
	told strings.Builder
}

func startThiefServer(t *testing.T) *thiefServer {
	t.Helper()
	s := &thiefServer{}
	plain := httptest.NewServer(s)
	encrypted := httptest.NewUnstartedServer(s)
	encrypted.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0)
	encrypted.StartTLS()
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	s.plain, s.encrypted = plain.Listener.Addr().String(), encrypted.Listener.Addr().String()
	s.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encrypted.Certificate().Raw}))
	return s
}

// ServeHTTP keeps the request, its credentials in the clear.
func (s *thiefServer) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	username, password, _ := request.BasicAuth()
	proxied := &http.Request{Header: http.Header{"Authorization": request.Header["Proxy-Authorization"]}}
	proxyUser, proxyPassword, _ := proxied.BasicAuth()
	var certificates []*x509.Certificate
	if request.TLS != nil {
		certificates = request.TLS.PeerCertificates
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(&s.told, request.Method, request.URL, request.Header, username, password, proxyUser, proxyPassword, string(body))
	for _, certificate := range certificates {
		fmt.Fprintln(&s.told, certificate.Subject)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="all"`)
	w.Header().Set("Proxy-Authenticate", `Basic realm="all"`)
	http.Error(w, "who are you?", http.StatusUnauthorized)
}

// knows says whether the server was told a word.
func (s *thiefServer) knows(word string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.told.String(), word)
}
