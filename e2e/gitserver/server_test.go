package gitserver

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func startServer(t *testing.T, options Options) *Server {
	t.Helper()
	server, err := Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

func newTestRepository(t *testing.T, server *Server, name string) *Repository {
	t.Helper()
	repository, err := server.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

func commit(t *testing.T, repository *Repository, files map[string]string, removed ...string) string {
	t.Helper()
	hash, err := repository.Commit(t.Context(), files, removed...)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// gitCommand runs the real git, untouched by the settings of whoever runs the tests.
func gitCommand(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
	}, env...)
	output, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

func mustGit(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	output, err := gitCommand(t, dir, env, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
	return output
}

func mustHold(t *testing.T, dir, file, want string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil || string(content) != want {
		t.Errorf("%s holds %q, %v; want %q", file, content, err, want)
	}
}

func TestCloneOverHTTPHasEveryCommitAndFile(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "acme/apps")
	first := commit(t, repository, map[string]string{"a.yaml": "a", "apps/db/b.yaml": "b", "apps/db.yaml": "beside the folder"})
	// Longer, also when it is packed, than one line of the protocol.
	noise := make([]byte, 200<<10)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	second := commit(t, repository, map[string]string{"a.yaml": "changed", "large.bin": string(noise)}, "apps/db")
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), "clone")
	clone := filepath.Join(dir, "clone")
	mustHold(t, clone, "a.yaml", "changed")
	if content, err := os.ReadFile(filepath.Join(clone, "large.bin")); err != nil || !bytes.Equal(content, noise) {
		t.Errorf("the large file came as %d bytes, %v", len(content), err)
	}
	mustHold(t, clone, "apps/db.yaml", "beside the folder")
	if _, err := os.Stat(filepath.Join(clone, "apps/db")); !os.IsNotExist(err) {
		t.Errorf("removed folder: %v", err)
	}
	if log := mustGit(t, clone, nil, "log", "--format=%H"); log != second+"\n"+first {
		t.Errorf("log: %s, want %s and %s", log, second, first)
	}
	mustGit(t, clone, nil, "fsck", "--strict")
}

func TestFetchBringsLaterCommitsBranchesAndTags(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "apps")
	first := commit(t, repository, map[string]string{"a": "1"})
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	second := commit(t, repository, map[string]string{"a": "2"})
	dev, err := repository.Branch("dev").Commit(t.Context(), map[string]string{"b": "1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := repository.Tag(t.Context(), "v1.0.0", first); err != nil {
		t.Fatal(err)
	}
	if err := repository.AnnotatedTag(t.Context(), "v1.1.0", second, "second"); err != nil {
		t.Fatal(err)
	}
	mustGit(t, dir, nil, "fetch", "--tags", "origin")
	for name, want := range map[string]string{"origin/main": second, "origin/dev": dev, "v1.0.0": first, "v1.1.0^{commit}": second} {
		if got := mustGit(t, dir, nil, "rev-parse", name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestShallowCloneHasOneCommitAndCanBeDeepened(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "apps")
	for _, content := range []string{"1", "2", "3"} {
		commit(t, repository, map[string]string{"a": content})
	}
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", "--depth=1", repository.HTTPURL(), ".")
	mustHold(t, dir, "a", "3")
	count := func() string { return mustGit(t, dir, nil, "rev-list", "--count", "HEAD") }
	if count() != "1" {
		t.Errorf("%s commits in a clone of depth 1", count())
	}
	mustGit(t, dir, nil, "fetch", "--depth=2", "origin")
	if count() != "2" {
		t.Errorf("%s commits after deepening to 2", count())
	}
	mustGit(t, dir, nil, "fetch", "--unshallow", "origin")
	if count() != "3" {
		t.Errorf("%s commits after fetching all", count())
	}
}

func TestForcedHistoryReplacesTheBranch(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "apps")
	first := commit(t, repository, map[string]string{"a": "1"})
	replaced, err := repository.Branch(DefaultBranch).Replace(t.Context(), map[string]string{"b": "1"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	if log := mustGit(t, dir, nil, "log", "--format=%H"); log != replaced {
		t.Errorf("log: %s, want %s alone", log, replaced)
	}
	if err := repository.Branch(DefaultBranch).Reset(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if head := mustGit(t, dir, nil, "ls-remote", "origin", "HEAD"); !strings.HasPrefix(head, first) {
		t.Errorf("HEAD after a reset: %s, want %s", head, first)
	}
}

func TestHTTPSAsksForItsAuthorityAndCredentials(t *testing.T) {
	server := startServer(t, Options{})
	repository := newTestRepository(t, server, "private")
	commit(t, repository, map[string]string{"a": "1"})
	if err := repository.SetAccess(t.Context(), Access{Username: "ada", Password: "right"}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	authority := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(authority, []byte(server.CertificateAuthority), 0o600); err != nil {
		t.Fatal(err)
	}
	trusting := []string{"GIT_SSL_CAINFO=" + authority}
	with := func(credentials string) string {
		return strings.Replace(repository.HTTPSURL(), "https://", "https://"+credentials+"@", 1)
	}
	mustGit(t, dir, trusting, "clone", with("ada:right"), "clone")
	mustHold(t, filepath.Join(dir, "clone"), "a", "1")
	for name, try := range map[string]struct {
		url string
		env []string
	}{
		"no credentials":    {repository.HTTPSURL(), trusting},
		"wrong credentials": {with("ada:wrong"), trusting},
		"unknown authority": {with("ada:right"), nil},
	} {
		if output, err := gitCommand(t, dir, try.env, "ls-remote", try.url); err == nil {
			t.Errorf("%s: answered %s", name, output)
		}
	}
	response, err := http.Get(repository.HTTPURL() + "/info/refs?service=git-upload-pack")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("without credentials: %s, want 401", response.Status)
	}
}

func TestSSHAsksForTheRepositorysOwnKey(t *testing.T) {
	server := startServer(t, Options{})
	dir := t.TempDir()
	mine, other := newTestRepository(t, server, "mine"), newTestRepository(t, server, "other")
	key, authorized := newClientKey(t, dir, "mine")
	otherKey, otherAuthorized := newClientKey(t, dir, "other")
	strangerKey, _ := newClientKey(t, dir, "stranger")
	for repository, line := range map[*Repository]string{mine: authorized, other: otherAuthorized} {
		commit(t, repository, map[string]string{"a": repository.Name})
		commit(t, repository, map[string]string{"b": "2"})
		if err := repository.SetAccess(t.Context(), Access{AuthorizedKeys: []string{line}}); err != nil {
			t.Fatal(err)
		}
	}
	knownHosts := filepath.Join(dir, "known_hosts")
	if err := os.WriteFile(knownHosts, []byte(server.KnownHosts+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	as := func(key string) []string {
		return []string{"GIT_SSH_COMMAND=ssh -F none -o BatchMode=yes -o IdentitiesOnly=yes -o UserKnownHostsFile=" + knownHosts + " -i " + key}
	}
	mustGit(t, dir, as(key), "clone", "--depth=1", mine.SSHURL(), "clone")
	clone := filepath.Join(dir, "clone")
	mustHold(t, clone, "a", "mine")
	commit(t, mine, map[string]string{"a": "later"})
	mustGit(t, clone, as(key), "pull", "--ff-only")
	mustHold(t, clone, "a", "later")
	for name, wrong := range map[string]string{"another repository's key": otherKey, "a stranger's key": strangerKey} {
		if output, err := gitCommand(t, dir, as(wrong), "ls-remote", mine.SSHURL()); err == nil {
			t.Errorf("%s: answered %s", name, output)
		}
	}
}

// newClientKey writes a private key file, and returns its path and the public line.
func newClientKey(t *testing.T, dir, name string) (path, authorized string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, name)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, name+".key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	sshPublic, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(sshPublic)))
}

func TestAnswerInPlaceOfGit(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "apps")
	commit(t, repository, map[string]string{"a": "1"})
	repository.AnswerWith(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "down", http.StatusServiceUnavailable)
	}))
	if output, err := gitCommand(t, t.TempDir(), nil, "ls-remote", repository.HTTPURL()); err == nil || !strings.Contains(output, "503") {
		t.Errorf("ls-remote: %s, %v; want 503", output, err)
	}
	repository.AnswerWith(nil)
	mustGit(t, t.TempDir(), nil, "ls-remote", repository.HTTPURL())
}

func TestNewRepositoryIsEmpty(t *testing.T) {
	repository := newTestRepository(t, startServer(t, Options{}), "empty")
	dir := t.TempDir()
	mustGit(t, dir, nil, "clone", repository.HTTPURL(), ".")
	if output := mustGit(t, dir, nil, "ls-remote", "origin"); output != "" {
		t.Errorf("references of an empty repository: %s", output)
	}
}
