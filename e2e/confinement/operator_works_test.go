package confinement_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestOperatorWorksConfined takes a tenant with a deploy key, an age key and a target
// below it through its life, with the policies in force.
func TestOperatorWorksConfined(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	const parent, child = "tenant-confined", "tenant-confined-child"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := harness.NewRepository(t, git, "acme/confined", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	day := metav1.Duration{Duration: 24 * time.Hour}
	home := gitopsv1.Source{
		Name: "home", Interval: day,
		Git: &gitopsv1.GitSource{
			URL: repository.SSHURL(), Ref: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			DeployKey: gitopsv1.GenerateKey, KnownHosts: git.KnownHosts, Interval: day,
		},
		Decryption: &gitopsv1.Decryption{AgeKey: gitopsv1.GenerateKey},
	}
	below := harness.HTTPS(t, cluster.Client, git, parent, "below", repository)
	below.TargetNamespace, below.DeletionPolicy = child, "Delete"
	harness.Write(t, cluster.Client, parent, home, below)
	harness.Await(t, "a deploy key", func(ctx context.Context) (bool, string) {
		status := harness.Read(t, cluster.Client, parent).Status
		if len(status.Sources) == 0 || status.Sources[0].DeployKey == "" {
			return false, fmt.Sprintf("%+v", status)
		}
		return repository.SetAccess(ctx, gitserver.Access{AuthorizedKeys: []string{status.Sources[0].DeployKey}}) == nil, ""
	})
	harness.Request(t, cluster.Client, parent)
	harness.Await(t, "the source over ssh to be applied", func(context.Context) (bool, string) {
		status := harness.Read(t, cluster.Client, parent).Status
		return status.Sources[0].Ready == metav1.ConditionTrue && status.Decryption != nil, fmt.Sprintf("%+v", status)
	})
	if err := repository.SetAccess(t.Context(), gitserver.Access{}); err != nil {
		t.Fatal(err)
	}
	harness.Request(t, cluster.Client, parent)
	harness.AwaitApplied(t, cluster.Client, parent, commit)

	harness.Write(t, cluster.Client, parent, harness.HTTPS(t, cluster.Client, git, parent, "home", repository))
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", child, "db"))
	if err := cluster.Client.Delete(t.Context(), harness.Read(t, cluster.Client, parent)); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "all bindings of the tenant to be gone", func(ctx context.Context) (bool, string) {
		var left rbacv1.RoleBindingList
		err := cluster.Client.List(ctx, &left, client.MatchingLabels{stamp.TenantLabel: parent})
		return err == nil && len(left.Items) == 0, fmt.Sprint(err, len(left.Items))
	})
}
