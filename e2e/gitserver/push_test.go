package gitserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commitInClone changes a file in a clone and commits it.
func commitInClone(t *testing.T, dir, file, content string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	mustGit(t, dir, nil, "add", file)
	mustGit(t, dir, nil, "commit", "--message", "change "+file)
	return mustGit(t, dir, nil, "rev-parse", "HEAD")
}

func TestPushFromAClone(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{OpenPush: true}), "apps")
	commit(t, repository, map[string]string{"a": "1", "b": "1"})
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	pushed := commitInClone(t, dir, "a", "2")
	mustGit(t, dir, nil, "push", "origin", "HEAD")
	if head, err := repository.Head(); err != nil || head != pushed {
		t.Errorf("head is %s, %v; want %s", head, err, pushed)
	}
	// What was pushed can be built on from here.
	commit(t, repository, map[string]string{"c": "1"})
	mustGit(t, dir, nil, "pull", "--ff-only")
	for file, want := range map[string]string{"a": "2", "b": "1", "c": "1"} {
		mustHold(t, dir, file, want)
	}
	mustGit(t, dir, nil, "push", "origin", "HEAD:refs/heads/dev", "HEAD:refs/tags/v1")
	mustGit(t, dir, nil, "push", "--delete", "origin", "dev")
	if refs := mustGit(t, dir, nil, "ls-remote", "origin"); strings.Contains(refs, "refs/heads/dev") || !strings.Contains(refs, "refs/tags/v1") {
		t.Errorf("references: %s, want tag v1 and no branch dev", refs)
	}
}

func TestOutdatedPushIsRefused(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{OpenPush: true}), "apps")
	commit(t, repository, map[string]string{"a": "1"})
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	commit(t, repository, map[string]string{"a": "2"})
	commitInClone(t, dir, "a", "3")
	if output, err := gitCommand(t, dir, nil, "push", "origin", "HEAD"); err == nil {
		t.Errorf("an outdated push went through: %s", output)
	}
	mustGit(t, dir, nil, "push", "--force", "origin", "HEAD")
}

func TestPushAsksForThePassword(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{PushPassword: "right"}), "apps")
	commit(t, repository, map[string]string{"a": "1"})
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	commitInClone(t, dir, "a", "2")
	for password, allowed := range map[string]bool{"wrong": false, "right": true} {
		url := strings.Replace(repository.HTTPURL(), "http://", "http://git:"+password+"@", 1)
		if output, err := gitCommand(t, dir, nil, "push", url, "HEAD:main"); (err == nil) != allowed {
			t.Errorf("push with the %s password: %v: %s", password, err, output)
		}
	}
}

func TestRemoteRepositoryIsServedElsewhere(t *testing.T) {
	server := startServer(t, Options{PushPassword: "secret"})
	if _, err := Connect(t.Context(), server.HTTP, "wrong"); err == nil {
		t.Error("connected with a wrong password")
	}
	remote, err := Connect(t.Context(), server.HTTP, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if remote.Endpoints != server.Endpoints {
		t.Errorf("endpoints: %+v, want %+v", remote.Endpoints, server.Endpoints)
	}
	repository, err := remote.NewRepository(t.Context(), "acme/apps")
	if err != nil {
		t.Fatal(err)
	}
	if err := repository.SetAccess(t.Context(), Access{Username: "ada", Password: "pass"}); err != nil {
		t.Fatal(err)
	}
	first := commit(t, repository, map[string]string{"a": "1"})
	commit(t, repository, map[string]string{"a": "2"})
	if err := repository.Tag(t.Context(), "v1", first); err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Branch("dev").Commit(t.Context(), map[string]string{"b": "1"}); err != nil {
		t.Fatal(err)
	}
	if err := repository.Branch("dev").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", strings.Replace(repository.HTTPURL(), "http://", "http://ada:pass@", 1), ".")
	mustHold(t, dir, "a", "2")
	if refs := mustGit(t, dir, nil, "for-each-ref", "--format=%(refname)"); strings.Contains(refs, "dev") || !strings.Contains(refs, "refs/tags/v1") {
		t.Errorf("references: %s", refs)
	}
	if _, err := repository.Branch(DefaultBranch).Replace(t.Context(), map[string]string{"new": "1"}); err != nil {
		t.Fatal(err)
	}
	mustGit(t, dir, nil, "fetch", "origin")
	if count := mustGit(t, dir, nil, "rev-list", "--count", "origin/main"); count != "1" {
		t.Errorf("%s commits after a forced history, want 1", count)
	}
}
