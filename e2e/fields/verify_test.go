package fields_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestVerify applies only what the author signed whose key the tenant trusts.
func TestVerify(t *testing.T) {
	namespace := newTenant(t, "tenant-verify")
	author, stranger := newSigner(t, "Author"), newSigner(t, "Stranger")
	repository, _ := newRepository(t, "acme/verify", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	source := fromGit(t, namespace, "apps", repository)
	source.Git.Verify = &sourcev1.GitRepositoryVerification{Mode: sourcev1.ModeGitHEAD, SecretRef: *secretRef("authors.gitops")}
	write(t, namespace, source)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound+`: the Secret "authors.gitops", named for verification`)

	harness.WriteSecret(t, cluster.Client, namespace, "authors.gitops", map[string]string{"author.asc": author.publicKey(t)})
	refused := func() {
		t.Helper()
		status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, "InvalidCommitSignature")
		if !strings.Contains(status.Message, "signature") || !strings.Contains(status.Message, "authors.gitops") {
			t.Errorf("the message does not tell why: %s", status.Message)
		}
	}
	refused()
	wantAbsent(t, "Redis", namespace, "app")

	repository.SignWith(author.sign)
	signed := harness.Commit(t, repository, map[string]string{"app.yaml": fixtures.Redis("app", 2)})
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "apps", signed)

	repository.SignWith(stranger.sign)
	harness.Commit(t, repository, map[string]string{"app.yaml": fixtures.Redis("app", 3)})
	harness.Request(t, cluster.Client, namespace)
	refused()
	wantSpec(t, application(t, "Redis", namespace, "app"), "replicas", "2")
	if status := harness.Read(t, cluster.Client, namespace).Status.Sources[0]; !strings.HasSuffix(status.AppliedRevision, signed) {
		t.Errorf("%s is applied, want %s", status.AppliedRevision, signed)
	}

	// The stranger becomes an author.
	harness.WriteSecret(t, cluster.Client, namespace, "authors.gitops", map[string]string{
		"author.asc": author.publicKey(t), "stranger.asc": stranger.publicKey(t),
	})
	awaitSpec(t, "Redis", namespace, "app", "replicas", "3")
}

// signer signs commits with a PGP key.
type signer struct{ *openpgp.Entity }

func newSigner(t *testing.T, name string) signer {
	t.Helper()
	entity, err := openpgp.NewEntity(name, "", "author@example.org", nil)
	if err != nil {
		t.Fatal(err)
	}
	return signer{entity}
}

func (s signer) sign(payload []byte) (string, error) {
	var signature bytes.Buffer
	err := openpgp.ArmoredDetachSign(&signature, s.Entity, bytes.NewReader(payload), nil)
	return signature.String(), err
}

func (s signer) publicKey(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	writer, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serialize(writer); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
