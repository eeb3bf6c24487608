package fields_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// atOnce is far less than any interval of these tests, and enough for a slow machine.
const atOnce = time.Minute

const loginSecret = "login.gitops"

// TestPasswordForHTTPS goes through the life of a private repository's Secret: missing,
// without a key, with a wrong password, repaired, rotated. Each is told by one condition
// that names the Secret, each repair takes effect though the interval is a day, and no
// password is to be read anywhere.
func TestPasswordForHTTPS(t *testing.T) {
	namespace := newTenant(t, "tenant-password")
	const username, wrong, first, second = "acme-robot", "wr0ng-tr0mbone-7d1", "f1rst-trumpet-9c2", "s3cond-bassoon-4e8"
	repository, commit := newRepository(t, "acme/private", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	setPassword := func(password string) {
		t.Helper()
		if err := repository.SetAccess(t.Context(), gitserver.Access{Username: username, Password: password}); err != nil {
			t.Fatal(err)
		}
	}
	writeLogin := func(data map[string]string) {
		t.Helper()
		data["ca.crt"] = git.CertificateAuthority
		harness.WriteSecret(t, cluster.Client, namespace, loginSecret, data)
	}
	setPassword(first)
	source := fromGit(t, namespace, "apps", repository)
	source.Git.SecretRef = secretRef(loginSecret)
	write(t, namespace, source)

	refused := func(reason string, words ...string) {
		t.Helper()
		status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, reason)
		for _, word := range append(words, loginSecret) {
			if !strings.Contains(status.Message, word) {
				t.Errorf("the message of the source lacks %q: %s", word, status.Message)
			}
		}
		harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, reason)
		harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, loginSecret)
	}
	refused(gitopsv1.ReasonSecretNotFound, "create it", namespace)
	writeLogin(map[string]string{"username": username})
	refused(gitopsv1.ReasonSecretInvalid, "username and password")
	writeLogin(map[string]string{"username": username, "password": wrong})
	refused("GitOperationFailed", "authentication required")
	wantAbsent(t, "Redis", namespace, "app")

	repaired := time.Now()
	writeLogin(map[string]string{"username": username, "password": first})
	awaitSourceApplied(t, namespace, "apps", commit)
	wantQuick(t, "repaired Secret", repaired)

	// A commit that nobody fetches, until the new password makes it known.
	commit = harness.Commit(t, repository, map[string]string{"app.yaml": fixtures.Redis("app", 2)})
	setPassword(second)
	rotated := time.Now()
	writeLogin(map[string]string{"username": username, "password": second})
	awaitSourceApplied(t, namespace, "apps", commit)
	wantQuick(t, "rotated Secret", rotated)

	setPassword(first)
	harness.Request(t, cluster.Client, namespace)
	refused("GitOperationFailed", "authentication required")
	wantUnread(t, namespace, wrong, first, second)
}

// TestAuthorityForHTTPS reads a public repository whose certificate nobody knows, until
// the Secret holds the authority.
func TestAuthorityForHTTPS(t *testing.T) {
	namespace := newTenant(t, "tenant-authority")
	repository, commit := newRepository(t, "acme/unknown-authority", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	source := fromGit(t, namespace, "apps", repository)
	source.Git.SecretRef = nil
	write(t, namespace, source)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, "certificate signed by unknown authority")
	source.Git.SecretRef = secretRef(harness.CASecret)
	write(t, namespace, source)
	awaitSourceApplied(t, namespace, "apps", commit)
}

// TestBearerToken reads a private repository with a token.
func TestBearerToken(t *testing.T) {
	namespace := newTenant(t, "tenant-token")
	const token = "t0ken-of-acme-5b6"
	repository, commit := newRepository(t, "acme/token", map[string]string{"app.yaml": fixtures.Redis("app", 1)})
	if err := repository.SetAccess(t.Context(), gitserver.Access{BearerToken: token}); err != nil {
		t.Fatal(err)
	}
	harness.WriteSecret(t, cluster.Client, namespace, loginSecret, map[string]string{"bearerToken": token, "ca.crt": git.CertificateAuthority})
	source := fromGit(t, namespace, "apps", repository)
	source.Git.SecretRef = secretRef(loginSecret)
	write(t, namespace, source)
	awaitSourceApplied(t, namespace, "apps", commit)
	wantUnread(t, namespace, token)
}

func wantQuick(t *testing.T, what string, since time.Time) {
	t.Helper()
	if took := time.Since(since); took > atOnce {
		t.Errorf("the %s took effect after %v", what, took)
	}
}
