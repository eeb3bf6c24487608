package limits_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

const operatorUser = "system:serviceaccount:cozy-gitops:gitops-operator"

// switchOn gives a tenant a TenantGitOps with one small source.
func switchOn(t *testing.T, git *gitserver.Server, namespace string) {
	t.Helper()
	repository, commit := harness.NewRepository(t, git, namespace+"/base", map[string]string{"bucket.yaml": fixtures.Bucket("base")})
	harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "base", repository))
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
}

// rawGit is a GitRepository as a tenant would write it by hand.
func rawGit(namespace, name string, repository *gitserver.Repository) *sourcev1.GitRepository {
	return &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: sourcev1.GitRepositorySpec{
			URL: repository.HTTPSURL(), Reference: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			Interval: metav1.Duration{Duration: time.Hour}, SecretRef: &meta.LocalObjectReference{Name: harness.CASecret},
		},
	}
}

// awaitRaw waits until a GitRepository is held, or is not and has fetched as it is now.
func awaitRaw(t *testing.T, repository *sourcev1.GitRepository, held bool) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("GitRepository %s with held %t", repository.Name, held), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(repository), repository); err != nil {
			return false, err.Error()
		}
		_, annotated := repository.Annotations[oversize.HeldAnnotation]
		fetched := repository.Status.ObservedGeneration == repository.Generation
		return repository.Spec.Suspend == held && annotated == held && (held || fetched),
			fmt.Sprintf("suspended %t, annotations %v, fetched %t, %+v", repository.Spec.Suspend, repository.Annotations, fetched, repository.Status.Artifact)
	})
	owns := slices.ContainsFunc(repository.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == apply.HoldManager })
	if owns != held {
		t.Errorf("held %t, and the operator owns fields: %t", held, owns)
	}
}

// TestTooLargeRawSourceIsHeld does to a GitRepository written by hand what is done to one
// that was stamped, and gives it back.
func TestTooLargeRawSourceIsHeld(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-raw")
	alice := person(t, namespace)
	git := harness.NewGitServer(t)
	switchOn(t, git, namespace)
	files, first := harness.NewRepository(t, git, "acme/raw", map[string]string{"db.yaml": fixtures.Postgres("raw", "1Gi")})
	repository := rawGit(namespace, "raw", files)
	kustomization := &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "raw"},
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: time.Hour}, Prune: true, TargetNamespace: namespace,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: "raw"},
		},
	}
	for _, obj := range []client.Object{repository, kustomization} {
		if err := alice.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{kustomizev1.KustomizationKind, sourcev1.GitRepositoryKind} {
		if listed := awaitUnmanaged(t, namespace, kind, "raw", metav1.ConditionTrue, ""); !strings.HasSuffix(listed.Revision, first) || listed.Suspended {
			t.Errorf("listed as %+v, and %s is applied", listed, first)
		}
	}
	status := harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "1 of 1 sources applied").Status
	if status.UnmanagedCount != 2 {
		t.Errorf("%d unmanaged objects are counted: %+v", status.UnmanagedCount, status.Unmanaged)
	}

	large := harness.Commit(t, files, map[string]string{largeFile: randomFile(t)})
	fetchNow(t, repository)
	awaitRaw(t, repository, true)
	listed := awaitUnmanaged(t, namespace, sourcev1.GitRepositoryKind, "raw", metav1.ConditionFalse, gitopsv1.ReasonArtifactTooLarge)
	if !listed.Suspended || !strings.HasSuffix(listed.Revision, large) || !strings.Contains(listed.Message, "spec.maxArtifactSize") {
		t.Errorf("listed as %+v", listed)
	}
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "1 of 1 sources applied")
	awaitEvent(t, namespace, "GitRepository raw: what was fetched takes")
	tryToResume(t, alice, repository)

	// One of the ways out: other rules of what to ignore.
	ignore := "/" + largeFile
	if err := change(t, alice, repository, func(r *sourcev1.GitRepository) { r.Spec.Ignore = &ignore }); err != nil {
		t.Fatal(err)
	}
	awaitRaw(t, repository, false)
	awaitUnmanaged(t, namespace, sourcev1.GitRepositoryKind, "raw", metav1.ConditionTrue, meta.SucceededReason)

	// Another: the whole object anew, as it was written first, of another branch.
	if err := change(t, alice, repository, func(r *sourcev1.GitRepository) { r.Spec.Ignore = nil }); err != nil {
		t.Fatal(err)
	}
	awaitRaw(t, repository, true)
	if _, err := files.Branch("slim").Replace(t.Context(), map[string]string{"db.yaml": fixtures.Postgres("raw", "2Gi")}); err != nil {
		t.Fatal(err)
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := alice.Get(t.Context(), client.ObjectKeyFromObject(repository), repository); err != nil {
			return err
		}
		anew := rawGit(namespace, "raw", files)
		anew.Spec.Reference.Branch, anew.ResourceVersion = "slim", repository.ResourceVersion
		return alice.Update(t.Context(), anew)
	})
	if err != nil {
		t.Fatal(err)
	}
	awaitRaw(t, repository, false)

	// And the admin's.
	if err := change(t, alice, repository, func(r *sourcev1.GitRepository) { r.Spec.Reference.Branch = gitserver.DefaultBranch }); err != nil {
		t.Fatal(err)
	}
	awaitRaw(t, repository, true)
	allow(t, "1Mi")
	awaitRaw(t, repository, false)
}

// awaitEvent waits for an event of the TenantGitOps.
func awaitEvent(t *testing.T, namespace, part string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("an event with %q", part), func(ctx context.Context) (bool, string) {
		var events eventsv1.EventList
		if err := cluster.Client.List(ctx, &events, client.InNamespace(namespace)); err != nil {
			return false, err.Error()
		}
		var seen []string
		for _, event := range events.Items {
			if event.Regarding.Kind == gitopsv1.TenantGitOpsKind && event.Reason == gitopsv1.ReasonArtifactTooLarge && strings.Contains(event.Note, part) {
				return true, ""
			}
			seen = append(seen, event.Reason+": "+event.Note)
		}
		return false, strings.Join(seen, "; ")
	})
}

// TestTheAuthorsSuspensionStays: what a tenant suspended is no more fetched when the
// operator has nothing against it, and nothing is written while nothing changes.
func TestTheAuthorsSuspensionStays(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-rawsuspended")
	git := harness.NewGitServer(t)
	switchOn(t, git, namespace)
	files, _ := harness.NewRepository(t, git, "acme/suspended", map[string]string{"db.yaml": fixtures.Postgres("raw", "1Gi"), largeFile: randomFile(t)})
	repository := rawGit(namespace, "raw", files)
	alice := person(t, namespace)
	if err := alice.Create(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	awaitRaw(t, repository, true)
	awaitUnmanaged(t, namespace, sourcev1.GitRepositoryKind, "raw", metav1.ConditionFalse, gitopsv1.ReasonArtifactTooLarge)

	settled := time.Now()
	harness.Request(t, cluster.Client, namespace)
	harness.Await(t, "the request to be handled", func(context.Context) (bool, string) {
		tenant := harness.Read(t, cluster.Client, namespace)
		return tenant.Status.LastHandledReconcileAt == tenant.Annotations[asks], tenant.Status.LastHandledReconcileAt
	})
	writes, err := cluster.Writes(settled, func(w embedded.Write) bool { return w.User == operatorUser && w.Name == "raw" })
	if err != nil || len(writes) > 0 {
		t.Errorf("a source that is held and stays so was written to: %v, %v", writes, err)
	}

	manifest := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "raw"}}
	if err := change(t, alice, manifest, func(r *sourcev1.GitRepository) {
		r.Spec.Suspend = false
		r.Spec.Reference.Branch = "other"
	}); err != nil {
		t.Fatal(err)
	}
	if err := change(t, alice, manifest, func(r *sourcev1.GitRepository) { r.Spec.Suspend = true }); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the hold to go and the suspension to stay", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(manifest), manifest); err != nil {
			return false, err.Error()
		}
		_, held := manifest.Annotations[oversize.HeldAnnotation]
		return !held && manifest.Spec.Suspend, fmt.Sprintf("held %t, suspended %t", held, manifest.Spec.Suspend)
	})
}
