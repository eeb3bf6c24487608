package gitserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/storage/memory"
)

// Remote is a server that runs elsewhere, in a pod: it gives out repositories that are
// kept here and pushed there after each change.
type Remote struct {
	// Endpoints are where the pods of the cluster reach the server.
	Endpoints

	url, password string
}

// Connect reaches a server by the URL of its HTTP port, from here, and its push password.
func Connect(ctx context.Context, url, password string) (*Remote, error) {
	r := &Remote{url: url, password: password}
	answer, err := r.request(ctx, http.MethodGet, endpointsPath, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to git server %s: %w", url, err)
	}
	if err := json.Unmarshal(answer, &r.Endpoints); err != nil {
		return nil, fmt.Errorf("connect to git server %s: %w", url, err)
	}
	return r, nil
}

// NewRepository makes an empty repository on the server.
func (r *Remote) NewRepository(ctx context.Context, name string) (*Repository, error) {
	if err := r.setAccess(ctx, name, Access{}); err != nil {
		return nil, err
	}
	repository := newRepository(name, r.Endpoints)
	repository.remote = r
	return repository, nil
}

func (r *Remote) setAccess(ctx context.Context, name string, access Access) error {
	body, err := json.Marshal(access) //nolint:gosec // G117: the server has to know the password
	if err == nil {
		_, err = r.request(ctx, http.MethodPut, accessPath+name, body)
	}
	if err != nil {
		return fmt.Errorf("set access to repository %s: %w", name, err)
	}
	return nil
}

// push makes the server's references those of the repository.
func (r *Remote) push(ctx context.Context, repository *Repository) error {
	const remoteName = "server"
	remote := git.NewRemote(repository.store, &config.RemoteConfig{
		Name: remoteName, URLs: []string{r.url + "/" + repository.Name + ".git"},
	})
	auth := &githttp.BasicAuth{Username: "git", Password: r.password}
	served, err := remote.ListContext(ctx, &git.ListOptions{Auth: auth})
	if err != nil && !errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return fmt.Errorf("list the references of repository %s: %w", repository.Name, err)
	}
	err = remote.PushContext(ctx, &git.PushOptions{
		RemoteName: remoteName, RefSpecs: changes(repository.store.ReferenceStorage, served), Auth: auth,
	})
	if err != nil && !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return fmt.Errorf("push repository %s: %w", repository.Name, err)
	}
	return nil
}

// changes name each branch and tag: those that are here to be pushed, those that only
// the server has to be deleted.
func changes(here memory.ReferenceStorage, served []*plumbing.Reference) []config.RefSpec {
	var specs []config.RefSpec
	for name := range here {
		if name.IsBranch() || name.IsTag() {
			specs = append(specs, config.RefSpec(fmt.Sprintf("+%s:%s", name, name)))
		}
	}
	for _, reference := range served {
		name := reference.Name()
		if _, kept := here[name]; !kept && (name.IsBranch() || name.IsTag()) {
			specs = append(specs, config.RefSpec(":"+name.String()))
		}
	}
	return specs
}

func (r *Remote) request(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	target, err := url.JoinPath(r.url, path)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth("git", r.password)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: %s", target, response.Status, bytes.TrimSpace(answer))
	}
	return answer, nil
}
