package validating_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const ownerLabel = "kustomize.toolkit.fluxcd.io/name"

func TestApplicationsFromGitAreReadOnlyToOtherHands(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-managed"
	repository, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)

	place := "./apps of " + repository.HTTPSURL() + " (branch main)"
	wantReadOnly(t, person, db, place)
	wantReadOnly(t, account(t, tenant, tenant), db, place)
	for what, patch := range map[string]string{
		"git's label taken off":             `{"metadata":{"labels":{"` + ownerLabel + `":null}}}`,
		"an annotation that keeps git away": `{"metadata":{"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":"disabled"}}}`,
	} {
		wantRefused(t, what, person.Patch(t.Context(), db.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))), place)
	}
	for what, patch := range map[string]string{
		"a status":    `{"status":{"phase":"Up"}}`,
		"a finalizer": `{"metadata":{"finalizers":["example.org/held"]}}`,
		"none":        `{"metadata":{"finalizers":null}}`,
	} {
		wantPassed(t, what, person.Patch(t.Context(), db.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(patch))))
	}

	wantPassed(t, "git's account", edits["apply"](t.Context(), account(t, tenant, tenant+"-gitops"), db))
	wantPassed(t, "a cluster-admin", edits["merge patch"](t.Context(), cluster.Client, db))
	wantPassed(t, "the end of namespaces", account(t, "kube-system", "namespace-controller").Delete(t.Context(), fixtures.Application("Bucket", tenant, "files")))

	commit := harness.Commit(t, repository, map[string]string{"apps/db.yaml": fixtures.Postgres("db", "2Gi")}, "apps/cache.yaml")
	harness.Request(t, cluster.Client, tenant)
	harness.AwaitApplied(t, cluster.Client, tenant, commit)
	if size := size(t, db); size != "2Gi" {
		t.Errorf("git changed the size to 2Gi, and it is %s", size)
	}
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", tenant, "cache"))
}

func TestAdminGroupsEditWhatGitManages(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-admingroups"
	repository, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)
	wantReadOnly(t, person, db, "./apps of "+repository.HTTPSURL())

	useParameters(t, map[string]any{"adminGroups": []any{"system:masters", tenant + "-admin"}})
	harness.Await(t, "the new admins to pass", func(ctx context.Context) (bool, string) {
		err := edits["merge patch"](ctx, person, db)
		return err == nil, fmt.Sprint(err)
	})
}

func TestWhatOrphanLeavesBehindIsFree(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-orphans"
	_, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)

	other := harness.Read(t, cluster.Client, tenant).Spec.Sources[0]
	other.Name, other.Suspend = "other", true
	harness.Write(t, cluster.Client, tenant, other)
	harness.AwaitGone(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-shop"}})
	harness.Await(t, "the labels to be taken off", func(ctx context.Context) (bool, string) {
		left := db.DeepCopy()
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(left), left)
		return err == nil && left.GetLabels()[ownerLabel] == "", fmt.Sprint(err, left.GetLabels())
	})
	wantFree(t, person, db)
}

func TestSuspendedSourceLetsPeopleEdit(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant = "tenant-suspended"
	repository, db := fromGit(t, tenant)
	person := tenantAdmin(t, tenant)
	mayEdit(t, person, tenant)
	suspend := func(suspended bool) {
		source := harness.Read(t, cluster.Client, tenant).Spec.Sources[0]
		source.Suspend = suspended
		harness.Write(t, cluster.Client, tenant, source)
		harness.Await(t, fmt.Sprintf("suspend to be %t", suspended), func(ctx context.Context) (bool, string) {
			kustomization := &kustomizev1.Kustomization{}
			err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: tenant, Name: "gitops-shop"}, kustomization)
			return err == nil && kustomization.Spec.Suspend == suspended, fmt.Sprint(err)
		})
	}
	suspend(true)
	for way, edit := range edits {
		wantPassed(t, way, edit(t.Context(), person, db))
	}
	suspend(false)
	// The console took the label off; Flux puts it on again.
	harness.Await(t, "git to take the database up again", func(context.Context) (bool, string) {
		size := size(t, db)
		return size == "1Gi", size
	})
	wantReadOnly(t, person, db, "./apps of "+repository.HTTPSURL())
}

func TestForgedLabelsLockNothing(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant, victim = "tenant-forger", "tenant-forged"
	fromGit(t, tenant)
	harness.NewTenant(t, cluster.Client, victim)
	for _, namespace := range []string{tenant, victim} {
		person := tenantAdmin(t, namespace)
		mayEdit(t, person, namespace)
		// That this one is in nobody's inventory is all that tells it from git's.
		forged := fixtures.Application("Postgres", namespace, "forged")
		forged.SetLabels(map[string]string{ownerLabel: "gitops-shop", "kustomize.toolkit.fluxcd.io/namespace": tenant})
		if err := person.Create(t.Context(), forged.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		wantPassed(t, "update", edits["merge patch"](t.Context(), person, forged))
		wantPassed(t, "deletion", person.Delete(t.Context(), forged))
	}
}

func TestParentsGitLocksWhatItAppliedBelow(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const parent, child = "tenant-above", "tenant-above-child"
	git := harness.NewGitServer(t)
	harness.NewTenant(t, cluster.Client, parent)
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := harness.NewRepository(t, git, "acme/shop", map[string]string{"apps/db.yaml": fixtures.Postgres("db", "1Gi")})
	source := shop(t, git, parent, repository)
	source.TargetNamespace = child
	harness.Write(t, cluster.Client, parent, source)
	harness.AwaitApplied(t, cluster.Client, parent, commit)

	person := tenantAdmin(t, child)
	mayEdit(t, person, child)
	db := fixtures.Application("Postgres", child, "db")
	wantReadOnly(t, person, db, "./apps of "+repository.HTTPSURL()+" (branch main); to edit it by hand, suspend the source shop of the TenantGitOps gitops in "+parent)
}
