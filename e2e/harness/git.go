package harness

import (
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

// CASecret is the Secret, in a tenant's namespace, with the git server's authority.
const CASecret = "git-ca.gitops" //nolint:gosec // G101: the name of a Secret, not what is in it

// NewGitServer starts a git server for the length of a test.
func NewGitServer(t *testing.T) *gitserver.Server {
	t.Helper()
	server, err := gitserver.Start(gitserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("the git server ended with %v", err)
		}
	})
	return server
}

// NewRepository makes a repository with one commit, and returns that too.
func NewRepository(t *testing.T, server *gitserver.Server, name string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	repository, err := server.NewRepository(name)
	if err != nil {
		t.Fatal(err)
	}
	return repository, Commit(t, repository, files)
}

// Commit commits to the default branch.
func Commit(t *testing.T, repository *gitserver.Repository, files map[string]string, removed ...string) string {
	t.Helper()
	commit, err := repository.Commit(t.Context(), files, removed...)
	if err != nil {
		t.Fatal(err)
	}
	return commit
}

// WriteSecret creates a Secret, or replaces the data of the one that is there.
func WriteSecret(t *testing.T, c client.Client, namespace, name string, data map[string]string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
	err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err == nil {
		stored := &corev1.Secret{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(secret), stored); err != nil {
			t.Fatal(err)
		}
		stored.Data, stored.StringData = nil, data
		err = c.Update(t.Context(), stored)
	} else {
		err = c.Create(t.Context(), secret)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// HTTPS is a source that reads a public repository over HTTPS; the Secret with
// the server's authority is written beside it. The repository is asked for news
// as often as may be.
func HTTPS(t *testing.T, c client.Client, server *gitserver.Server, namespace, name string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	WriteSecret(t, c, namespace, CASecret, map[string]string{"ca.crt": server.CertificateAuthority})
	return gitopsv1.Source{
		Name: name,
		Git: &gitopsv1.GitSource{
			URL:       repository.HTTPSURL(),
			Ref:       &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			SecretRef: &meta.LocalObjectReference{Name: CASecret},
			Interval:  metav1.Duration{Duration: 30 * time.Second},
		},
	}
}

// Request asks the operator, as `flux reconcile` would, to look again now.
func Request(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	tenant := Read(t, c, namespace)
	changed := tenant.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[meta.ReconcileRequestAnnotation] = time.Now().Format(time.RFC3339Nano)
	if err := c.Patch(t.Context(), changed, client.MergeFrom(tenant)); err != nil {
		t.Fatal(err)
	}
}
