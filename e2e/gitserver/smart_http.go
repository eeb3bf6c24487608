package gitserver

import (
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/pktline"

	"github.com/cozystack/gitops-operator/e2e/certificates"
)

const (
	// controlPath begins the addresses by which tests make repositories from afar; no
	// repository's name begins like it.
	controlPath   = "/-/"
	endpointsPath = controlPath + "endpoints"
	accessPath    = controlPath + "access/"
)

func serverTLS(authority *certificates.Authority, hosts []string) (*tls.Config, error) {
	pair, err := authority.Issue(certificates.Subject{CommonName: "git server of tests", Hosts: hosts})
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(pair.CertificatePEM, pair.KeyPEM)
	if err != nil {
		return nil, fmt.Errorf("read the git server's certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+endpointsPath, s.control(func(w http.ResponseWriter, _ *http.Request) error {
		return json.NewEncoder(w).Encode(s.Endpoints)
	}))
	mux.HandleFunc("PUT "+accessPath+"{name...}", s.control(func(_ http.ResponseWriter, request *http.Request) error {
		var access Access
		if err := json.NewDecoder(request.Body).Decode(&access); err != nil {
			return err
		}
		return s.setAccess(request.Context(), request.PathValue("name"), access)
	}))
	mux.HandleFunc("GET /-/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/", s.serveGit)
	return mux
}

// control lets only those in who may push.
func (s *Server) control(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if !s.gavePushPassword(request) {
			refuse(w)
			return
		}
		if err := do(w, request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}
}

func (s *Server) gavePushPassword(request *http.Request) bool {
	_, password, given := request.BasicAuth()
	return given && s.options.PushPassword != "" && password == s.options.PushPassword
}

func refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
	http.Error(w, "these credentials are not known here", http.StatusUnauthorized)
}

func (s *Server) serveGit(w http.ResponseWriter, request *http.Request) {
	name, action, found := strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), ".git/")
	repository := s.repository(name)
	if !found || repository == nil {
		http.NotFound(w, request)
		return
	}
	access, answer := repository.rules()
	if answer != nil {
		answer.ServeHTTP(w, request)
		return
	}
	service := action
	if action == "info/refs" {
		service = request.URL.Query().Get("service")
	}
	pusher := s.gavePushPassword(request)
	reader := pusher || access.mayRead(request)
	switch {
	case service != uploadPack && service != receivePack:
		// Among them the "dumb" protocol, which knows no services.
		http.Error(w, "only smart HTTP is spoken here", http.StatusForbidden)
	case !reader, service == receivePack && !pusher && !s.options.OpenPush:
		refuse(w)
	case action == "info/refs":
		serveAdvertisement(w, repository, service)
	default:
		serveExchange(w, request, repository, service)
	}
}

// rules are who may read, and what answers in place of git.
func (r *Repository) rules() (Access, http.Handler) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.access, r.answer
}

func serveAdvertisement(w http.ResponseWriter, repository *Repository, service string) {
	w.Header().Set("Content-Type", "application/x-"+service+"-advertisement")
	w.Header().Set("Cache-Control", "no-cache")
	encoder := pktline.NewEncoder(w)
	// A client that is gone cannot be told.
	if encoder.Encodef("# service=%s\n", service) == nil && encoder.Flush() == nil {
		_ = repository.advertise(w, service)
	}
}

func serveExchange(w http.ResponseWriter, request *http.Request, repository *Repository, service string) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(request.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	serve := repository.serveFetch
	if service == receivePack {
		serve = repository.servePush
	}
	w.Header().Set("Content-Type", "application/x-"+service+"-result")
	w.Header().Set("Cache-Control", "no-cache")
	if err := serve(body, w); err != nil {
		// Where the answer has begun, this breaks it off, and the client sees that.
		panic(http.ErrAbortHandler)
	}
}
