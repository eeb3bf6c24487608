package fields_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	ageSecret = "age.gitops"
	ageKey    = "identity.agekey"
	// plain is what the encrypted files hold.
	plain = "0pen-sesame-2c9"
)

// TestDecryptionWithGeneratedKey encrypts a file for the recipient that a tenant's status
// shows. That tenant's controller decrypts it, another tenant's, with a key of its own,
// does not.
func TestDecryptionWithGeneratedKey(t *testing.T) {
	namespace, other := newTenant(t, "tenant-decrypt"), secondTenant(t, "tenant-decryptnot")
	repository, commit := newRepository(t, "acme/decrypt", map[string]string{"plain.yaml": fixtures.Redis("plain", 1)})
	recipients := map[string]string{}
	for _, tenant := range []string{namespace, other} {
		write(t, tenant, decrypted(t, tenant, repository, &gitopsv1.Decryption{AgeKey: gitopsv1.GenerateKey}))
		awaitSourceApplied(t, tenant, "apps", commit)
		status := harness.Read(t, cluster.Client, tenant).Status
		if status.Decryption == nil || !strings.HasPrefix(status.Decryption.AgeRecipient, "age1") {
			t.Fatalf("the status of %s shows no age recipient: %+v", tenant, status.Decryption)
		}
		recipients[tenant] = status.Decryption.AgeRecipient
	}
	if recipients[namespace] == recipients[other] {
		t.Fatal("two tenants share an age identity")
	}

	commit = harness.Commit(t, repository, map[string]string{"secret.yaml": encrypt(t, recipients[namespace])})
	for _, tenant := range []string{namespace, other} {
		harness.Request(t, cluster.Client, tenant)
	}
	awaitSourceApplied(t, namespace, "apps", commit)
	wantSpec(t, application(t, "Postgres", namespace, "secret"), "password", plain)

	status := awaitSource(t, other, "apps", metav1.ConditionFalse, "BuildFailed")
	if !strings.Contains(status.Message, "secret") || !strings.Contains(status.Message, "decrypt") {
		t.Errorf("the message does not tell what cannot be decrypted: %s", status.Message)
	}
	wantAbsent(t, "Postgres", other, "secret")

	identity := string(readSecret(t, namespace, ageSecret).Data[ageKey])
	for _, tenant := range []string{namespace, other} {
		wantUnread(t, tenant, plain, strings.TrimSpace(identity), strings.TrimSpace(string(readSecret(t, other, ageSecret).Data[ageKey])))
	}
	wantIdentityKept(t, namespace, commit, identity)
}

// wantIdentityKept spoils the Secret of the generated identity: it is never replaced,
// since what was encrypted for it would be lost, and counts again when it is restored.
func wantIdentityKept(t *testing.T, namespace, commit, identity string) {
	t.Helper()
	spoil := func(content string) {
		t.Helper()
		secret := readSecret(t, namespace, ageSecret)
		secret.Data[ageKey] = []byte(content)
		if err := cluster.Client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	spoil("no identity at all")
	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretInvalid)
	if !strings.Contains(status.Message, ageSecret) || !strings.Contains(status.Message, "restore it") {
		t.Errorf("the message does not say the mend: %s", status.Message)
	}
	if kept := string(readSecret(t, namespace, ageSecret).Data[ageKey]); kept != "no identity at all" {
		t.Error("the operator has replaced an identity that it cannot read")
	}
	spoil(identity)
	awaitSourceApplied(t, namespace, "apps", commit)
}

// TestDecryptionWithNamedKey decrypts with an identity that the tenant keeps itself.
func TestDecryptionWithNamedKey(t *testing.T) {
	namespace := newTenant(t, "tenant-decryptnamed")
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	repository, commit := newRepository(t, "acme/decrypt-named", map[string]string{"secret.yaml": encrypt(t, identity.Recipient().String())})
	write(t, namespace, decrypted(t, namespace, repository, &gitopsv1.Decryption{SecretRef: secretRef("keys.gitops")}))

	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound+`: the Secret "keys.gitops", named for decryption`)
	writeKey := func(key, content string) {
		t.Helper()
		harness.WriteSecret(t, cluster.Client, namespace, "keys.gitops", map[string]string{key: content})
	}
	writeKey("identity", identity.String())
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretInvalid+`: the Secret "keys.gitops"`)
	writeKey("acme.agekey", stranger.String())
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, "BuildFailed")
	wantAbsent(t, "Postgres", namespace, "secret")
	writeKey("acme.agekey", identity.String())
	awaitSourceApplied(t, namespace, "apps", commit)
	wantSpec(t, application(t, "Postgres", namespace, "secret"), "password", plain)
	wantUnread(t, namespace, plain, identity.String(), stranger.String())
}

// TestForeignAgeSecret leaves a Secret alone that somebody else made.
func TestForeignAgeSecret(t *testing.T) {
	namespace := newTenant(t, "tenant-agetaken")
	repository, commit := newRepository(t, "acme/age-taken", map[string]string{"plain.yaml": fixtures.Redis("plain", 1)})
	harness.WriteSecret(t, cluster.Client, namespace, ageSecret, map[string]string{"content": "of somebody else"})
	write(t, namespace, decrypted(t, namespace, repository, &gitopsv1.Decryption{AgeKey: gitopsv1.GenerateKey}))
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonNameTaken)
	foreign := readSecret(t, namespace, ageSecret)
	if len(foreign.Data) != 1 || string(foreign.Data["content"]) != "of somebody else" {
		t.Error("the Secret of somebody else has been changed")
	}
	if err := cluster.Client.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	awaitSourceApplied(t, namespace, "apps", commit)
}

// secondTenant is a tenant beside the test's first one.
func secondTenant(t *testing.T, namespace string) string {
	t.Helper()
	harness.NewTenant(t, cluster.Client, namespace)
	deleteAfter(t, namespace)
	return namespace
}

func decrypted(t *testing.T, namespace string, repository *gitserver.Repository, decryption *gitopsv1.Decryption) gitopsv1.Source {
	t.Helper()
	source := fromGit(t, namespace, "apps", repository)
	source.Decryption = decryption
	return source
}

func readSecret(t *testing.T, namespace, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// encrypt runs sops as a tenant would, on the manifest of a database with a password.
func encrypt(t *testing.T, recipient string) string {
	t.Helper()
	sops, err := programs.Path(t.Context(), "sops")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "secret.yaml")
	manifest := fixtures.Manifest("Postgres", "secret", map[string]any{"size": "1Gi", "password": plain})
	if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, sops, "encrypt", "--age", recipient, "--encrypted-regex", "^password$", file)
	// No configuration and no key of whoever runs the tests.
	cmd.Dir, cmd.Env = filepath.Dir(file), []string{"HOME=" + filepath.Dir(file)}
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot encrypt with sops: %v: %s", err, output)
	}
	if strings.Contains(string(output), plain) || !strings.Contains(string(output), "size: 1Gi") {
		t.Fatalf("sops encrypted something else: %s", output)
	}
	return string(output)
}
