package gitserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/cozystack/gitops-operator/e2e/certificates"
)

// Options say where a server listens and who may push.
type Options struct {
	// HTTPAddress, HTTPSAddress and SSHAddress are where to listen: free ports of
	// 127.0.0.1 by default.
	HTTPAddress, HTTPSAddress, SSHAddress string
	// Host is what clients call the server: by default 127.0.0.1.
	Host string
	// PushPassword lets whoever gives it, with any username, read and push over HTTP
	// and HTTPS, and use the interface by which tests make repositories.
	PushPassword string
	// OpenPush lets everybody push who may read.
	OpenPush bool
}

// Server serves repositories.
type Server struct {
	Endpoints

	options    Options
	hostKey    ssh.Signer
	httpServer *http.Server
	sshServer  *sshServer
	listeners  []net.Listener

	mu           sync.RWMutex
	repositories map[string]*Repository
}

const defaultHost = "127.0.0.1"

// Start starts a server, which serves until Close.
func Start(options Options) (*Server, error) {
	if options.Host == "" {
		options.Host = defaultHost
	}
	s := &Server{options: options, repositories: map[string]*Repository{}}
	if err := s.listen(); err != nil {
		return nil, errors.Join(fmt.Errorf("start git server: %w", err), s.Close())
	}
	return s, nil
}

func (s *Server) listen() error {
	for _, address := range []string{s.options.HTTPAddress, s.options.HTTPSAddress, s.options.SSHAddress} {
		if address == "" {
			address = net.JoinHostPort(defaultHost, "0")
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		s.listeners = append(s.listeners, listener)
	}
	plain, encrypted, shell := s.listeners[0], s.listeners[1], s.listeners[2]
	s.HTTP = "http://" + s.hostAndPort(plain)
	s.HTTPS = "https://" + s.hostAndPort(encrypted)
	s.SSH = "ssh://git@" + s.hostAndPort(shell)

	authority, err := certificates.NewAuthority("git server of tests")
	if err != nil {
		return err
	}
	hosts := []string{s.options.Host}
	if s.options.Host != defaultHost {
		hosts = append(hosts, defaultHost)
	}
	tlsConfig, err := serverTLS(authority, hosts)
	if err != nil {
		return err
	}
	s.CertificateAuthority = string(authority.CertificatePEM)
	if s.hostKey, err = newHostKey(); err != nil {
		return err
	}
	s.KnownHosts = knownHostsLine(s.hostAndPort(shell), s.hostKey.PublicKey())

	s.httpServer = &http.Server{Handler: s.handler(), TLSConfig: tlsConfig, ReadHeaderTimeout: 10 * time.Second, Protocols: &http.Protocols{}}
	// Git as some distributions build it stumbles over HTTP/2 connections that end.
	s.httpServer.Protocols.SetHTTP1(true)
	s.sshServer = newSSHServer(s)
	// They end when their listeners do; there is nobody to tell.
	go func() { _ = s.httpServer.Serve(plain) }()
	go func() { _ = s.httpServer.ServeTLS(encrypted, "", "") }()
	go s.sshServer.serve(shell)
	return nil
}

func (s *Server) hostAndPort(listener net.Listener) string {
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		// The address of a listener always has a port.
		panic(err)
	}
	return net.JoinHostPort(s.options.Host, port)
}

// Close ends the server and all its connections.
func (s *Server) Close() error {
	var errs []error
	if s.httpServer != nil {
		errs = append(errs, s.httpServer.Close())
	}
	if s.sshServer != nil {
		s.sshServer.close()
	}
	for _, listener := range s.listeners {
		if err := listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// NewRepository makes an empty repository; the name may have folders in it.
func (s *Server) NewRepository(name string) (*Repository, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repositories[name] != nil {
		return nil, fmt.Errorf("make repository %s: it is there already", name)
	}
	repository := newRepository(name, s.Endpoints)
	s.repositories[name] = repository
	return repository, nil
}

// repository returns nil for a name that no repository has.
func (s *Server) repository(name string) *Repository {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.repositories[name]
}

// setAccess makes the repository if need be.
func (s *Server) setAccess(ctx context.Context, name string, access Access) error {
	repository := s.repository(name)
	if repository == nil {
		var err error
		if repository, err = s.NewRepository(name); err != nil {
			return err
		}
	}
	return repository.SetAccess(ctx, access)
}

// mayRead judges what a client said over HTTP or HTTPS.
func (a Access) mayRead(request *http.Request) bool {
	if a.Password == "" && a.BearerToken == "" {
		return true
	}
	if a.BearerToken != "" && request.Header.Get("Authorization") == "Bearer "+a.BearerToken {
		return true
	}
	username, password, given := request.BasicAuth()
	return a.Password != "" && given && username == a.Username && password == a.Password
}

// mayReadBySSH says whether a key is among the authorized ones.
func (a Access) mayReadBySSH(key ssh.PublicKey) bool {
	return slices.ContainsFunc(a.AuthorizedKeys, func(line string) bool {
		authorized, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		return err == nil && string(authorized.Marshal()) == string(key.Marshal())
	})
}
