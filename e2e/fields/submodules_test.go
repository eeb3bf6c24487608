package fields_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const sshSecret = "ssh.gitops"

// TestSubmodules clones with a key that the tenant keeps itself: a repository, and one
// that it has as a submodule, both private. (Over HTTPS the clone of a submodule does not
// know the authority of the Secret.)
func TestSubmodules(t *testing.T) {
	namespace := newTenant(t, "tenant-submodules")
	private, public := newKeyPair(t)
	module, pinned := newRepository(t, "acme/module", map[string]string{"app.yaml": fixtures.Redis("of-module", 1)})
	repository, _ := newRepository(t, "acme/with-module", map[string]string{"app.yaml": fixtures.Redis("of-repository", 1)})
	commit, err := repository.Branch("main").AddSubmodule(t.Context(), "vendored", module.SSHURL(), pinned)
	if err != nil {
		t.Fatal(err)
	}
	letIn(t, module, public)
	letIn(t, repository, public)

	source := overSSH("apps", repository)
	source.Git.DeployKey, source.Git.KnownHosts, source.Git.SecretRef = "", "", secretRef(sshSecret)
	write(t, namespace, source)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound)
	harness.WriteSecret(t, cluster.Client, namespace, sshSecret, map[string]string{"identity": private})
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretInvalid)
	harness.WriteSecret(t, cluster.Client, namespace, sshSecret, map[string]string{"identity": "no key", "known_hosts": git.KnownHosts})
	if status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, "PEM"); strings.Contains(status.Message, "no key") {
		t.Errorf("the message quotes the Secret: %s", status.Message)
	}
	harness.WriteSecret(t, cluster.Client, namespace, sshSecret, map[string]string{"identity": private, "known_hosts": git.KnownHosts})
	if status := awaitSourceApplied(t, namespace, "apps", commit); status.Applications != 1 {
		t.Errorf("%d applications are applied without recurseSubmodules, want 1", status.Applications)
	}

	source.Git.RecurseSubmodules = true
	write(t, namespace, source)
	awaitSpec(t, "Redis", namespace, "of-module", "replicas", "1")
	harness.Await(t, "two applications", func(context.Context) (bool, string) {
		count := harness.Read(t, cluster.Client, namespace).Status.Applications
		return count == 2, fmt.Sprint(count)
	})
	wantUnread(t, namespace, secondLine(private))
}

// newKeyPair makes a private key in PEM form and the line for its public half.
func newKeyPair(t *testing.T) (private, public string) {
	t.Helper()
	publicKey, privateKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(privateKey, "")
	if err != nil {
		t.Fatal(err)
	}
	sshKey, err := ssh.NewPublicKey(publicKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(sshKey))
}
