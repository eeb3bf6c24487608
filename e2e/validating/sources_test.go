package validating_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// unused is a source of a TenantGitOps that is never fetched.
func unused(name string) gitopsv1.Source {
	return gitopsv1.Source{Name: name, Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/shop"}, Suspend: true}
}

// rawGit and rawOCI are sources that a person writes, and that are never fetched.
func rawGit(namespace, name string) *sourcev1.GitRepository {
	return &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       sourcev1.GitRepositorySpec{URL: "https://git.example.org/acme/shop", Suspend: true, Interval: metav1.Duration{Duration: time.Minute}},
	}
}

func rawOCI(namespace, name string) *sourcev1.OCIRepository {
	return &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       sourcev1.OCIRepositorySpec{URL: "oci://registry.example.org/acme/shop", Suspend: true, Interval: metav1.Duration{Duration: time.Minute}},
	}
}

func countSources(t *testing.T, namespace string) int {
	t.Helper()
	git, oci := &sourcev1.GitRepositoryList{}, &sourcev1.OCIRepositoryList{}
	for _, list := range []client.ObjectList{git, oci} {
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
	}
	return len(git.Items) + len(oci.Items)
}

func TestNoMoreSourcesThanMayBe(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-collector")
	person := tenantAdmin(t, tenant)
	harness.Write(t, cluster.Client, tenant, unused("one"), unused("two"))
	for _, name := range []string{"gitops-one", "gitops-two"} {
		harness.AwaitExists(t, cluster.Client, rawGit(tenant, name))
	}

	// Of a creation that is only tried nothing is left, and no place is taken.
	for i := range 30 {
		wantPassed(t, "a dry run", person.Create(t.Context(), rawGit(tenant, fmt.Sprintf("tried-%d", i)), client.DryRunAll))
	}
	const tries = 25
	errs := make([]error, tries)
	var together sync.WaitGroup
	for i := range tries {
		together.Go(func() {
			source := client.Object(rawGit(tenant, fmt.Sprintf("raw-%d", i)))
			switch i % 3 {
			case 1:
				source = rawOCI(tenant, fmt.Sprintf("raw-%d", i))
			case 2:
				source.SetName("")
				source.SetGenerateName("raw-")
			}
			errs[i] = person.Create(t.Context(), source)
		})
	}
	together.Wait()
	passed := 0
	for i, err := range errs {
		if err == nil {
			passed++
			continue
		}
		wantRefused(t, fmt.Sprintf("source %d", i), err, "namespace "+tenant+" has 20 sources (GitRepositories and OCIRepositories), and may have 20: delete one")
	}
	if there := countSources(t, tenant); passed != 18 || there != 20 {
		t.Errorf("%d of %d passed beside 2 of the operator's, and there are %d; want 18 and 20", passed, tries, there)
	}

	wantRefused(t, "the 21st", person.Create(t.Context(), rawOCI(tenant, "more")), "has 20 sources")
	wantPassed(t, "an admin's", cluster.Client.Create(t.Context(), rawGit(tenant, "by-an-admin")))
	harness.Write(t, cluster.Client, tenant, unused("one"), unused("two"), unused("three"))
	harness.AwaitExists(t, cluster.Client, rawGit(tenant, "gitops-three"))
	wantRefused(t, "with what passed since", person.Create(t.Context(), rawGit(tenant, "more")), "has 22 sources")

	for _, name := range []string{"by-an-admin", "raw-0", "raw-3"} {
		if err := cluster.Client.Delete(t.Context(), rawGit(tenant, name)); client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		// source-controller has to take its finalizer off; until then it counts.
		harness.AwaitGone(t, cluster.Client, rawGit(tenant, name))
	}
	for there := countSources(t, tenant); there < 20; there++ {
		wantPassed(t, fmt.Sprintf("one more beside %d", there), person.Create(t.Context(), rawGit(tenant, fmt.Sprintf("after-%d", there))))
	}
	wantRefused(t, "the 21st again", person.Create(t.Context(), rawGit(tenant, "more")), "has 20 sources")
	useParameters(t, map[string]any{"maxSources": 21})
	harness.Await(t, "one more to pass", func(ctx context.Context) (bool, string) {
		err := person.Create(ctx, rawGit(tenant, "more"))
		return err == nil, fmt.Sprint(err)
	})
	wantRefused(t, "the 22nd", person.Create(t.Context(), rawGit(tenant, "yet-more")), "may have 21")
}

func TestSourcesNeedATenantGitOps(t *testing.T) {
	withoutPolicies(t)
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-offside")
	person := tenantAdmin(t, tenant)
	for _, source := range []client.Object{rawGit(tenant, "early"), rawOCI(tenant, "early")} {
		wantRefused(t, fmt.Sprintf("%T", source), person.Create(t.Context(), source),
			"namespace "+tenant+" has no TenantGitOps", "create the TenantGitOps gitops in "+tenant+" first")
	}
	wantPassed(t, "an admin's", cluster.Client.Create(t.Context(), rawGit(tenant, "by-an-admin")))
	elsewhere := rawGit("default", "elsewhere")
	wantPassed(t, "one elsewhere", cluster.Client.Create(t.Context(), elsewhere))

	harness.Write(t, cluster.Client, tenant, unused("one"))
	// At once: the operator need not have heard of it.
	wantPassed(t, "with a TenantGitOps", person.Create(t.Context(), rawGit(tenant, "early")))
	wantPassed(t, "with a TenantGitOps", person.Create(t.Context(), rawOCI(tenant, "early")))
}

func TestTenantsHaveNoOtherKindsOfSources(t *testing.T) {
	withoutPolicies(t)
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-bucketeer")
	person := tenantAdmin(t, tenant)
	harness.Write(t, cluster.Client, tenant, unused("one"))
	in := metav1.ObjectMeta{Namespace: tenant, Name: "other"}
	minute := metav1.Duration{Duration: time.Minute}
	for _, source := range []client.Object{
		&sourcev1.Bucket{ObjectMeta: in, Spec: sourcev1.BucketSpec{BucketName: "x", Endpoint: "s3.example.org", Interval: minute, Suspend: true}},
		&sourcev1.HelmRepository{ObjectMeta: in, Spec: sourcev1.HelmRepositorySpec{URL: "https://charts.example.org", Interval: minute, Suspend: true}},
		&sourcev1.HelmChart{ObjectMeta: in, Spec: sourcev1.HelmChartSpec{
			Chart: "x", Interval: minute, Suspend: true, SourceRef: sourcev1.LocalHelmChartSourceReference{Kind: "HelmRepository", Name: "other"},
		}},
		&sourcev1.ExternalArtifact{ObjectMeta: in},
	} {
		wantRefused(t, fmt.Sprintf("%T", source), person.Create(t.Context(), source.DeepCopyObject().(client.Object)), "tenants have no sources of the kind", "in the TenantGitOps gitops")
		wantPassed(t, fmt.Sprintf("an admin's %T", source), cluster.Client.Create(t.Context(), source))
	}
}

// TestSourcesFromBeforeTheInstallGoOn fetches one in a namespace without a TenantGitOps,
// made when there was no webhook yet.
func TestSourcesFromBeforeTheInstallGoOn(t *testing.T) {
	withoutPolicies(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-veteran")
	git := harness.NewGitServer(t)
	repository, commit := harness.NewRepository(t, git, "acme/shop", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	old := rawGit(tenant, "old")
	old.Spec = sourcev1.GitRepositorySpec{
		URL: repository.HTTPSURL(), Interval: metav1.Duration{Duration: time.Minute},
		Reference: &sourcev1.GitRepositoryRef{Branch: "main"},
		SecretRef: harness.HTTPS(t, cluster.Client, git, tenant, "old", repository).Git.SecretRef,
	}
	if err := harness.RemoveWebhooks(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	person := tenantAdmin(t, tenant)
	err := person.Create(t.Context(), old)
	if err := harness.InstallWebhooks(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	wantRefused(t, "a second one", person.Create(t.Context(), rawGit(tenant, "new")), "has no TenantGitOps")

	next := harness.Commit(t, repository, map[string]string{"db.yaml": fixtures.Postgres("db", "2Gi")})
	wantPassed(t, "an annotation", person.Patch(t.Context(), old.DeepCopy(), client.RawPatch("application/merge-patch+json",
		fmt.Appendf(nil, `{"metadata":{"annotations":{"reconcile.fluxcd.io/requestedAt":%q}}}`, time.Now().Format(time.RFC3339Nano)))))
	harness.Await(t, "the next commit of a source from before", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(old), old); err != nil {
			return false, err.Error()
		}
		revision := ""
		if old.Status.Artifact != nil {
			revision = old.Status.Artifact.Revision
		}
		ready := apimeta.FindStatusCondition(old.Status.Conditions, "Ready")
		return strings.HasSuffix(revision, next), fmt.Sprintf("first %s, now %s, %+v", commit, revision, ready)
	})
	wantPassed(t, "deletion", person.Delete(t.Context(), old.DeepCopy()))
	harness.AwaitGone(t, cluster.Client, old)
}
