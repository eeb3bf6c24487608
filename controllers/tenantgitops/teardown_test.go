package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// applied makes a tenant with one repository that is applied.
func applied(t *testing.T, git *gitserver.Server, namespace string, change func(*gitopsv1.Source)) (repository *gitserver.Repository, commit string) {
	t.Helper()
	tenant := harness.NewTenant(t, cluster.Client, namespace)
	repository, commit = harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	source := harness.HTTPS(t, cluster.Client, git, tenant, "apps", repository)
	if change != nil {
		change(&source)
	}
	harness.Write(t, cluster.Client, tenant, source)
	harness.AwaitApplied(t, cluster.Client, tenant, commit)
	return repository, commit
}

func tenantGitOps(namespace string) *gitopsv1.TenantGitOps {
	return &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
}

func exists(t *testing.T, obj client.Object) bool {
	t.Helper()
	err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

func TestDeletedTenantGitOpsLeavesTheApplications(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	applied(t, git, "tenant-leave", nil)
	if err := cluster.Client.Delete(t.Context(), tenantGitOps("tenant-leave")); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps("tenant-leave"))
	if !exists(t, fixtures.Application("Postgres", "tenant-leave", "db")) {
		t.Error("the application is gone")
	}
	if left := harness.Leftovers(t, cluster.Client, "tenant-leave"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestEnabledAgainFindsItsApplications(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	repository, commit := applied(t, git, "tenant-again", nil)
	db := fixtures.Application("Postgres", "tenant-again", "db")
	if !exists(t, db) {
		t.Fatal("the application is not there")
	}
	if err := cluster.Client.Delete(t.Context(), tenantGitOps("tenant-again")); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps("tenant-again"))
	harness.Write(t, cluster.Client, "tenant-again", harness.HTTPS(t, cluster.Client, git, "tenant-again", "apps", repository))
	harness.AwaitApplied(t, cluster.Client, "tenant-again", commit)
	again := fixtures.Application("Postgres", "tenant-again", "db")
	if !exists(t, again) || again.GetUID() != db.GetUID() {
		t.Error("the application is another one")
	}
}

func TestDeletionPolicyDeleteTakesTheApplicationsAlong(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	applied(t, git, "tenant-take", func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	if err := cluster.Client.Delete(t.Context(), tenantGitOps("tenant-take")); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps("tenant-take"))
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", "tenant-take", "db"))
}

// TestRemovedSourceBehavesAsItsDeletionPolicySays removes two sources of three.
func TestRemovedSourceBehavesAsItsDeletionPolicySays(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-remove")
	var sources []gitopsv1.Source
	for _, name := range []string{"stays", "orphaned", "deleted"} {
		repository, err := git.NewRepository("remove/" + name)
		if err != nil {
			t.Fatal(err)
		}
		harness.Commit(t, repository, map[string]string{"db.yaml": fixtures.Postgres(name, "1Gi")})
		source := harness.HTTPS(t, cluster.Client, git, tenant, name, repository)
		if name == "deleted" {
			source.DeletionPolicy = "Delete"
		}
		sources = append(sources, source)
	}
	harness.Write(t, cluster.Client, tenant, sources...)
	harness.AwaitCondition(t, cluster.Client, tenant, metav1.ConditionTrue, "3 of 3 sources applied")

	harness.Write(t, cluster.Client, tenant, sources[0])
	for _, name := range []string{"gitops-orphaned", "gitops-deleted"} {
		harness.AwaitGone(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: name}})
	}
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", tenant, "deleted"))
	for _, name := range []string{"stays", "orphaned"} {
		if !exists(t, fixtures.Application("Postgres", tenant, name)) {
			t.Errorf("application %s is gone", name)
		}
	}
	harness.AwaitCondition(t, cluster.Client, tenant, metav1.ConditionTrue, "1 of 1 sources applied")
}

// TestDeletedControllerComesBackForTheLastFinalizer deletes the controller of a
// tenant while a Kustomization with Delete waits for it.
func TestDeletedControllerComesBackForTheLastFinalizer(t *testing.T) {
	config := harness.Config()
	o := harness.WithOperator(t, cluster, config)
	git := harness.NewGitServer(t)
	applied(t, git, "tenant-back", func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-gitops-tenants", Name: "kustomize-controller-tenant-back"}}
	if err := cluster.Client.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the controller's pod to go", func(ctx context.Context) (bool, string) {
		var pods corev1.PodList
		err := cluster.Client.List(ctx, &pods, client.MatchingLabels{stamp.TenantLabel: "tenant-back"})
		return err == nil && len(pods.Items) == 0, fmt.Sprintf("%d pods, %v", len(pods.Items), err)
	})
	if err := cluster.Client.Delete(t.Context(), tenantGitOps("tenant-back")); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, config)
	harness.AwaitGone(t, cluster.Client, tenantGitOps("tenant-back"))
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", "tenant-back", "db"))
}

// TestSpecChangedLastIsTheOneThatHolds changes the spec while the operator is down, and
// deletes the TenantGitOps before it has looked.
func TestSpecChangedLastIsTheOneThatHolds(t *testing.T) {
	o := harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	changes := map[string]func(*gitopsv1.TenantGitOps){
		"tenant-lastpolicy":  func(t *gitopsv1.TenantGitOps) { t.Spec.Sources[0].DeletionPolicy = "Orphan" },
		"tenant-lastsource":  func(t *gitopsv1.TenantGitOps) { t.Spec.Sources[0].Suspend = true },
		"tenant-lastsuspend": func(t *gitopsv1.TenantGitOps) { t.Spec.Suspend = true },
	}
	for tenant := range changes {
		applied(t, git, tenant, func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	}
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	for tenant, change := range changes {
		before := harness.Read(t, cluster.Client, tenant)
		after := before.DeepCopy()
		change(after)
		if err := cluster.Client.Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Client.Delete(t.Context(), tenantGitOps(tenant)); err != nil {
			t.Fatal(err)
		}
	}
	harness.WithOperator(t, cluster, harness.Config())
	for tenant := range changes {
		harness.AwaitGone(t, cluster.Client, tenantGitOps(tenant))
		if !exists(t, fixtures.Application("Postgres", tenant, "db")) {
			t.Errorf("the application of %s is gone although the spec says that it stays", tenant)
		}
	}
}

// TestWaitingTeardownSaysWhatItWaitsFor deletes a TenantGitOps whose controller
// cannot run: with Delete nobody else may finish the work.
func TestWaitingTeardownSaysWhatItWaitsFor(t *testing.T) {
	config := harness.Config()
	o := harness.WithOperator(t, cluster, config)
	git := harness.NewGitServer(t)
	applied(t, git, "tenant-wait", func(s *gitopsv1.Source) { s.DeletionPolicy = "Delete" })
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	broken := config
	broken.Stamp.Controller.Image = missingImage
	// Tenants of other tests would hold the roll-out up.
	broken.RolloutBatch = 1000
	harness.WithOperator(t, cluster, broken)
	harness.AwaitCondition(t, cluster.Client, "tenant-wait", metav1.ConditionFalse, "ImagePull")
	if err := cluster.Client.Delete(t.Context(), tenantGitOps("tenant-wait")); err != nil {
		t.Fatal(err)
	}
	harness.AwaitCondition(t, cluster.Client, "tenant-wait", metav1.ConditionUnknown, "waiting for Kustomization gitops-apps (Delete) to delete 1 applications")
	if !exists(t, fixtures.Application("Postgres", "tenant-wait", "db")) {
		t.Error("the application is gone although the controller cannot have deleted it")
	}
	if err := cluster.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant-wait"}}); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant-wait"}})
}

// missingImage is one that the runner cannot pull.
const missingImage = "registry.example.org/gone:v0"
