package fields_test

import (
	"context"
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// deployKeySecret is the Secret of the source "apps".
const deployKeySecret = "deploykey-apps.gitops"

// overSSH is a source with a generated deploy key.
func overSSH(name string, repository *gitserver.Repository) gitopsv1.Source {
	return gitopsv1.Source{
		Name: name, Interval: day,
		Git: &gitopsv1.GitSource{
			URL: repository.SSHURL(), Ref: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			DeployKey: gitopsv1.GenerateKey, KnownHosts: git.KnownHosts, Interval: day,
		},
	}
}

// TestDeployKey goes through the life of a generated key: shown, let in at the git
// server, lost and made again, and gone with the field.
func TestDeployKey(t *testing.T) {
	namespace := newTenant(t, "tenant-deploykey")
	repository, commit := newRepository(t, "acme/deploy-key", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	source := overSSH("apps", repository)
	write(t, namespace, source)

	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, deployKeySecret)
	key := status.DeployKey
	if !strings.HasPrefix(key, "ssh-ed25519 ") || !strings.HasSuffix(key, " "+namespace+"/apps") {
		t.Fatalf("the status shows the deploy key %q", key)
	}
	letIn(t, repository, key)
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "apps", commit)
	private := string(generatedSecret(t, namespace).Data["identity"])

	if err := cluster.Client.Delete(t.Context(), generatedSecret(t, namespace)); err != nil {
		t.Fatal(err)
	}
	var again string
	harness.Await(t, "another deploy key", func(context.Context) (bool, string) {
		again = harness.Read(t, cluster.Client, namespace).Status.Sources[0].DeployKey
		return again != "" && again != key, again
	})
	// The server knows the old one only.
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, deployKeySecret)
	letIn(t, repository, again)
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "apps", commit)
	wantUnread(t, namespace, secondLine(private), secondLine(string(generatedSecret(t, namespace).Data["identity"])))

	source.Git.DeployKey, source.Git.KnownHosts = "", ""
	source.Git.URL, source.Git.SecretRef = repository.HTTPSURL(), secretRef(harness.CASecret)
	harness.WriteSecret(t, cluster.Client, namespace, harness.CASecret, map[string]string{"ca.crt": git.CertificateAuthority})
	write(t, namespace, source)
	harness.AwaitGone(t, cluster.Client, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: deployKeySecret}})
	if shown := awaitSourceApplied(t, namespace, "apps", commit).DeployKey; shown != "" {
		t.Errorf("the status still shows the deploy key %q", shown)
	}
}

// TestDeployKeyOfRemovedSource removes one of two sources, and with it its key.
func TestDeployKeyOfRemovedSource(t *testing.T) {
	namespace := newTenant(t, "tenant-deploykeyremoved")
	repository, _ := newRepository(t, "acme/deploy-key-removed", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	kept := overSSH("kept", repository)
	write(t, namespace, overSSH("apps", repository), kept)
	gone, stays := &corev1.Secret{}, &corev1.Secret{}
	gone.Namespace, gone.Name = namespace, deployKeySecret
	stays.Namespace, stays.Name = namespace, "deploykey-kept.gitops"
	harness.AwaitExists(t, cluster.Client, gone)
	harness.AwaitExists(t, cluster.Client, stays)
	uid := stays.UID

	write(t, namespace, kept)
	harness.AwaitGone(t, cluster.Client, gone)
	harness.AwaitExists(t, cluster.Client, stays)
	if stays.UID != uid {
		t.Error("the key of the source that stays is another")
	}
}

// TestKnownHosts names a host key that is not the server's, and then the right one.
func TestKnownHosts(t *testing.T) {
	namespace := newTenant(t, "tenant-knownhosts")
	repository, commit := newRepository(t, "acme/known-hosts", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	source := overSSH("apps", repository)
	host, _, _ := strings.Cut(git.KnownHosts, " ")
	source.Git.KnownHosts = host + " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPbdzpZq7cD8nLrEyfGUM7kHwRcmYF5IVVzvPZN8MZnQ"
	write(t, namespace, source)
	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, "knownhosts")
	letIn(t, repository, status.DeployKey)

	source.Git.KnownHosts = git.KnownHosts
	write(t, namespace, source)
	if after := awaitSourceApplied(t, namespace, "apps", commit); after.DeployKey != status.DeployKey {
		t.Error("another host key made another deploy key")
	}
}

// TestForeignSecretOfThatName leaves a Secret alone that somebody else made.
func TestForeignSecretOfThatName(t *testing.T) {
	namespace := newTenant(t, "tenant-nametaken")
	repository, commit := newRepository(t, "acme/name-taken", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	harness.WriteSecret(t, cluster.Client, namespace, deployKeySecret, map[string]string{"identity": "of somebody else"})
	write(t, namespace, overSSH("apps", repository))
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonNameTaken)
	foreign := generatedSecret(t, namespace)
	if string(foreign.Data["identity"]) != "of somebody else" || len(foreign.Data) != 1 {
		t.Error("the Secret of somebody else has been changed")
	}

	if err := cluster.Client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, "ssh")
	letIn(t, repository, status.DeployKey)
	harness.Request(t, cluster.Client, namespace)
	awaitSourceApplied(t, namespace, "apps", commit)
}

func letIn(t *testing.T, repository *gitserver.Repository, key string) {
	t.Helper()
	if err := repository.SetAccess(t.Context(), gitserver.Access{AuthorizedKeys: []string{key}}); err != nil {
		t.Fatal(err)
	}
}

// generatedSecret reads the Secret with the deploy key of the source "apps".
func generatedSecret(t *testing.T, namespace string) *corev1.Secret {
	t.Helper()
	return readSecret(t, namespace, deployKeySecret)
}

// secondLine of a key in PEM form is a piece of it that nothing else has.
func secondLine(pem string) string {
	_, rest, _ := strings.Cut(pem, "\n")
	_, rest, _ = strings.Cut(rest, "\n")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
