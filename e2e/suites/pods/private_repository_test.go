//go:build kind

package pods_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestPrivateRepositoryOverHTTPS reads a repository that asks for a password, which
// lies in a Secret; first a wrong one.
func TestPrivateRepositoryOverHTTPS(t *testing.T) {
	t.Parallel()
	const tenant, secret = "tenant-https", "git.gitops"
	stage.NewTenant(t, tenant)
	repository, commit := stage.NewRepository(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	if err := repository.SetAccess(t.Context(), gitserver.Access{Username: "acme", Password: "right"}); err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"username": "acme", "password": "wrong", "ca.crt": stage.Git.CertificateAuthority}
	harness.WriteSecret(t, stage.Client, tenant, secret, data)
	source := stage.Source(t, tenant, "apps", repository)
	source.Git.SecretRef = &meta.LocalObjectReference{Name: secret}
	harness.Write(t, stage.Client, tenant, source)
	harness.AwaitCondition(t, stage.Client, tenant, metav1.ConditionFalse, secret)

	data["password"] = "right"
	harness.WriteSecret(t, stage.Client, tenant, secret, data)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
}

// TestPrivateRepositoryOverSSH reads a repository with a generated key, once that is
// let in at the git server.
func TestPrivateRepositoryOverSSH(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-ssh"
	stage.NewTenant(t, tenant)
	repository, commit := stage.NewRepository(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	harness.Write(t, stage.Client, tenant, gitopsv1.Source{
		Name: "apps",
		Git: &gitopsv1.GitSource{
			URL: repository.SSHURL(), Ref: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			DeployKey: gitopsv1.GenerateKey, KnownHosts: stage.Git.KnownHosts, Interval: metav1.Duration{Duration: time.Hour},
		},
	})
	var key string
	harness.Await(t, "the deploy key in the status", func(context.Context) (bool, string) {
		sources := harness.Read(t, stage.Client, tenant).Status.Sources
		if len(sources) == 1 {
			key = sources[0].DeployKey
		}
		return strings.HasPrefix(key, "ssh-ed25519 "), key
	})
	harness.AwaitCondition(t, stage.Client, tenant, metav1.ConditionFalse, "deploykey-apps.gitops")
	if err := repository.SetAccess(t.Context(), gitserver.Access{AuthorizedKeys: []string{key}}); err != nil {
		t.Fatal(err)
	}
	harness.Request(t, stage.Client, tenant)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
}
