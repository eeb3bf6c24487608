package escapes_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// listener is a server that notes who asks for what.
type listener struct {
	url string
	// secureURL is that of the same over TLS; authority signed its certificate.
	secureURL string
	authority []byte

	mu    sync.Mutex
	asked []string
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = append(l.asked, request.URL.Path+" "+request.Header.Get("X-Vault-Token")+request.Header.Get("Authorization"))
		http.Error(w, "nothing is here", http.StatusBadRequest)
	})
	plain, encrypted := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	l.url, l.secureURL = plain.URL, encrypted.URL
	l.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encrypted.Certificate().Raw})
	return l
}

// heard says whether a request came that begins with a path and carried a word.
func (l *listener) heard(path, word string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, request := range l.asked {
		if strings.HasPrefix(request, path) && strings.Contains(request, word) {
			return true
		}
	}
	return false
}
