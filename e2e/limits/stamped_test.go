package limits_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

// awaitHeld waits until the one source of a tenant says that it fetched too much, and
// both its objects are suspended.
func awaitHeld(t *testing.T, namespace string) {
	t.Helper()
	tenant := harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, gitopsv1.ReasonArtifactTooLarge)
	if !apimeta.IsStatusConditionTrue(tenant.Status.Conditions, meta.StalledCondition) {
		t.Errorf("nothing goes on by itself, and the conditions do not say Stalled: %+v", tenant.Status.Conditions)
	}
	source := tenant.Status.Sources[0]
	for _, part := range []string{fmt.Sprintf("takes %d bytes", source.ArtifactSize), bound, "ignore", "spec.maxArtifactSize"} {
		if !strings.Contains(source.Message, part) {
			t.Errorf("the source's message %q lacks %q", source.Message, part)
		}
	}
	repository, kustomization := stamped(namespace)
	harness.Await(t, "both objects to be suspended", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(repository), repository); err != nil {
			return false, err.Error()
		}
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(kustomization), kustomization); err != nil {
			return false, err.Error()
		}
		seen := fmt.Sprintf("GitRepository %t %v, Kustomization %t", repository.Spec.Suspend, repository.Annotations, kustomization.Spec.Suspend)
		return repository.Spec.Suspend && repository.Annotations[oversize.HeldAnnotation] != "" && kustomization.Spec.Suspend, seen
	})
}

// awaitResumed waits until a commit is applied, and neither object is held.
func awaitResumed(t *testing.T, namespace, commit string) {
	t.Helper()
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
	repository, kustomization := stamped(namespace)
	for _, obj := range []client.Object{repository, kustomization} {
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		if value, held := obj.GetAnnotations()[oversize.HeldAnnotation]; held {
			t.Errorf("%T still says that it is held: %s", obj, value)
		}
	}
	if repository.Spec.Suspend || kustomization.Spec.Suspend {
		t.Errorf("suspended: GitRepository %t, Kustomization %t", repository.Spec.Suspend, kustomization.Spec.Suspend)
	}
}

func stamped(namespace string) (*sourcev1.GitRepository, *kustomizev1.Kustomization) {
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "gitops-apps"}
	return &sourcev1.GitRepository{ObjectMeta: meta}, &kustomizev1.Kustomization{ObjectMeta: meta}
}

// TestTooLargeSourceIsHeld pushes a large file, tries as the tenant to go on all the same,
// and goes on in each way that is offered.
func TestTooLargeSourceIsHeld(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-large")
	alice := person(t, namespace)
	git := harness.NewGitServer(t)
	repository, first := harness.NewRepository(t, git, "acme/large", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	source := harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository)
	source.DeletionPolicy = "Delete"
	write := func() { t.Helper(); harness.Write(t, alice, namespace, source) }
	write()
	awaitResumed(t, namespace, first)

	harness.Commit(t, repository, map[string]string{largeFile: randomFile(t)})
	harness.Request(t, cluster.Client, namespace)
	awaitHeld(t, namespace)
	gitRepository, _ := stamped(namespace)
	tryToResume(t, alice, gitRepository)

	// Of what is pushed meanwhile nothing is fetched, until something changes.
	small := harness.Commit(t, repository, map[string]string{"cache.yaml": fixtures.Redis("cache", 1)})
	ignore := "/" + largeFile
	source.Git.Ignore = &ignore
	write()
	awaitResumed(t, namespace, small)

	source.Git.Ignore = nil
	write()
	awaitHeld(t, namespace)
	branch := repository.Branch("slim")
	slim, err := branch.Replace(t.Context(), map[string]string{"db.yaml": fixtures.Postgres("db", "2Gi")})
	if err != nil {
		t.Fatal(err)
	}
	source.Git.Ref = &sourcev1.GitRepositoryRef{Branch: "slim"}
	write()
	awaitResumed(t, namespace, slim)

	source.Git.Ref = &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch}
	write()
	awaitHeld(t, namespace)
	allow(t, "1Mi")
	awaitResumed(t, namespace, small)
	allow(t, bound)
	awaitHeld(t, namespace)

	// Removed, it takes its applications with it, as it says, though its Kustomization
	// was suspended.
	source.Name, source.Git.Ref = "other", &sourcev1.GitRepositoryRef{Branch: "slim"}
	source.DeletionPolicy = "Orphan"
	write()
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", namespace, "cache"))
	harness.AwaitGone(t, cluster.Client, gitRepository)
}

// TestTooLargeAtFirst is held before anything was applied, and its TenantGitOps can go.
func TestTooLargeAtFirst(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-largefirst")
	git := harness.NewGitServer(t)
	repository, _ := harness.NewRepository(t, git, "acme/first", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi"), largeFile: randomFile(t)})
	harness.Write(t, person(t, namespace), namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
	awaitHeld(t, namespace)
	deleteTenantGitOps(t, namespace)
}

// TestTooLargeSourceRemovedRightBeforeItsTenantGitOps takes its applications with it, as it
// says, though no pass has come in between to resume its Kustomization.
func TestTooLargeSourceRemovedRightBeforeItsTenantGitOps(t *testing.T) {
	allow(t, bound)
	before := harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-largelast")
	git := harness.NewGitServer(t)
	repository, first := harness.NewRepository(t, git, "acme/last", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	source := harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository)
	source.DeletionPolicy = "Delete"
	harness.Write(t, cluster.Client, namespace, source)
	awaitResumed(t, namespace, first)
	harness.Commit(t, repository, map[string]string{largeFile: randomFile(t)})
	harness.Request(t, cluster.Client, namespace)
	awaitHeld(t, namespace)

	if err := before.Stop(); err != nil {
		t.Fatal(err)
	}
	source.Name = "other"
	harness.Write(t, cluster.Client, namespace, source)
	tenant := harness.Read(t, cluster.Client, namespace)
	if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	harness.AwaitGone(t, cluster.Client, tenant)
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", namespace, "db"))
}
