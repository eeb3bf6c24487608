package validating_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// edit writes to an application.
type edit func(context.Context, client.Client, *unstructured.Unstructured) error

// edits are all ways by which people change a size to 9Gi, but for the deletion.
var edits = map[string]edit{
	"update": func(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			changed := stored.DeepCopy()
			if err := c.Get(ctx, client.ObjectKeyFromObject(stored), changed); err != nil {
				return err
			}
			setSize(changed)
			return c.Update(ctx, changed)
		})
	},
	// The console sends no more than this; the applications API needs no version.
	"the console's update": func(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			live := stored.DeepCopy()
			if err := c.Get(ctx, client.ObjectKeyFromObject(stored), live); err != nil {
				return err
			}
			sent := fixtures.Application(stored.GetKind(), stored.GetNamespace(), stored.GetName())
			sent.SetResourceVersion(live.GetResourceVersion())
			setSize(sent)
			return c.Update(ctx, sent)
		})
	},
	"merge patch": func(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
		return c.Patch(ctx, stored.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"size":"9Gi"}}`)))
	},
	// On a member that is there, "add" replaces.
	"JSON patch": func(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
		return c.Patch(ctx, stored.DeepCopy(), client.RawPatch("application/json-patch+json", []byte(`[{"op":"add","path":"/spec/size","value":"9Gi"}]`)))
	},
	"apply": func(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
		sent := fixtures.Application(stored.GetKind(), stored.GetNamespace(), stored.GetName())
		setSize(sent)
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(sent), client.FieldOwner("kubectl"), client.ForceOwnership)
	},
}

func setSize(application *unstructured.Unstructured) {
	if err := unstructured.SetNestedField(application.Object, "9Gi", "spec", "size"); err != nil {
		panic(err)
	}
}

func size(t *testing.T, application *unstructured.Unstructured) string {
	t.Helper()
	live := application.DeepCopy()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(application), live); err != nil {
		t.Fatal(err)
	}
	size, _, _ := unstructured.NestedString(live.Object, "spec", "size")
	return size
}

// mayEdit waits until a person has the rights of the tenant's role, which the controller
// manager fills a moment after the tenant is made.
func mayEdit(t *testing.T, person client.Client, namespace string) {
	t.Helper()
	harness.Await(t, "the rights of the tenant's admin", func(ctx context.Context) (bool, string) {
		err := person.Create(ctx, fixtures.Application("Postgres", namespace, "probe"), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
}

// shop is a source that applies the folder apps of a repository.
func shop(t *testing.T, git *gitserver.Server, namespace string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	source := harness.HTTPS(t, cluster.Client, git, namespace, "shop", repository)
	source.Path = "./apps"
	return source
}

// fromGit makes a tenant with the database db of size 1Gi in its repository, applied.
func fromGit(t *testing.T, namespace string) (*gitserver.Repository, *unstructured.Unstructured) {
	t.Helper()
	git := harness.NewGitServer(t)
	harness.NewTenant(t, cluster.Client, namespace)
	repository, commit := harness.NewRepository(t, git, "acme/shop", map[string]string{
		"apps/db.yaml":    fixtures.Postgres("db", "1Gi"),
		"apps/cache.yaml": fixtures.Redis("cache", 1),
		"apps/files.yaml": fixtures.Bucket("files"),
	})
	harness.Write(t, cluster.Client, namespace, shop(t, git, namespace, repository))
	harness.AwaitApplied(t, cluster.Client, namespace, commit)
	return repository, fixtures.Application("Postgres", namespace, "db")
}

// wantReadOnly tries every edit and the deletion.
func wantReadOnly(t *testing.T, person client.Client, application *unstructured.Unstructured, sentence string) {
	t.Helper()
	before := size(t, application)
	for way, edit := range edits {
		wantRefused(t, way, edit(t.Context(), person, application), "change it in "+sentence)
	}
	wantRefused(t, "deletion", person.Delete(t.Context(), application.DeepCopy()), "remove it from "+sentence)
	if after := size(t, application); after != before {
		t.Errorf("the size was %s, and is %s", before, after)
	}
}

// wantFree edits, and deletes at last.
func wantFree(t *testing.T, person client.Client, application *unstructured.Unstructured) {
	t.Helper()
	for way, edit := range edits {
		wantPassed(t, way, edit(t.Context(), person, application))
	}
	if after := size(t, application); after != "9Gi" {
		t.Errorf("the size is %s", after)
	}
	wantPassed(t, "deletion", person.Delete(t.Context(), application.DeepCopy()))
}
