package gitserver

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"
)

// DefaultBranch is what HEAD of every repository points at.
const DefaultBranch = "main"

// Repository is a bare repository and who may read it. Changes made by its methods are
// at once what a client fetches.
type Repository struct {
	// Name is its path on the server, without ".git".
	Name string

	endpoints Endpoints
	// remote carries changes to a server that runs elsewhere; nil for one in this process.
	remote *Remote

	mu     sync.RWMutex
	store  *memory.Storage
	access Access
	answer http.Handler
	sign   func(payload []byte) (signature string, err error)
}

// Access says who may read a repository. The zero value lets everybody read it over
// HTTP and HTTPS, and nobody over SSH.
type Access struct {
	// Username and Password are asked for over HTTP and HTTPS, if Password is set.
	Username, Password string
	// BearerToken is asked for over HTTP and HTTPS, if set.
	BearerToken string
	// AuthorizedKeys may read over SSH: lines as in ~/.ssh/authorized_keys.
	AuthorizedKeys []string
}

// Endpoints are where a server is reached and how a client knows that it is the one.
type Endpoints struct {
	HTTP, HTTPS, SSH string
	// CertificateAuthority signed the HTTPS certificate, in PEM.
	CertificateAuthority string
	// KnownHosts is the line of the SSH server in a known_hosts file.
	KnownHosts string
}

func newRepository(name string, endpoints Endpoints) *Repository {
	store := memory.NewStorage()
	// A map in memory: this cannot fail.
	_ = store.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.NewBranchReferenceName(DefaultBranch)))
	return &Repository{Name: name, endpoints: endpoints, store: store}
}

// HTTPURL is the repository's address over HTTP.
func (r *Repository) HTTPURL() string { return r.endpoints.HTTP + "/" + r.Name + ".git" }

// HTTPSURL is the repository's address over HTTPS.
func (r *Repository) HTTPSURL() string { return r.endpoints.HTTPS + "/" + r.Name + ".git" }

// SSHURL is the repository's address over SSH.
func (r *Repository) SSHURL() string { return r.endpoints.SSH + "/" + r.Name + ".git" }

// SetAccess says who may read the repository from now on.
func (r *Repository) SetAccess(ctx context.Context, access Access) error {
	r.mu.Lock()
	r.access = access
	r.mu.Unlock()
	if r.remote == nil {
		return nil
	}
	return r.remote.setAccess(ctx, r.Name, access)
}

// AnswerWith has every HTTP request for the repository answered by a handler in place of
// git, as a server that misbehaves would; nil ends that. It works on a server in this
// process only.
func (r *Repository) AnswerWith(handler http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = handler
}

// SignWith has further commits and annotated tags signed; nil ends that.
func (r *Repository) SignWith(sign func(payload []byte) (signature string, err error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sign = sign
}

// update changes the repository and then, if it is served elsewhere, pushes it there.
func (r *Repository) update(ctx context.Context, change func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := change(); err != nil {
		return fmt.Errorf("change repository %s: %w", r.Name, err)
	}
	if r.remote == nil {
		return nil
	}
	return r.remote.push(ctx, r)
}
