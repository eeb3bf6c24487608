package escapes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// listener is a server that notes who asks for what.
type listener struct {
	url string

	mu    sync.Mutex
	asked []string
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = append(l.asked, request.URL.Path+" "+request.Header.Get("X-Vault-Token"))
		http.Error(w, "nothing is here", http.StatusBadRequest)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
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
