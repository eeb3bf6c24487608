package ownership_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/platform"
)

// person is a tenant's admin, who works in the console.
func person(t *testing.T, namespace string) client.Client {
	t.Helper()
	config, err := cluster.UserConfig("ann", namespace+"-admin")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// put writes what the console does: name, namespace and spec.
func put(ctx context.Context, c client.Client, stored *unstructured.Unstructured) error {
	sent := fixtures.Application(stored.GetKind(), stored.GetNamespace(), stored.GetName())
	sent.SetResourceVersion(stored.GetResourceVersion())
	if err := unstructured.SetNestedField(sent.Object, int64(7), "spec", "replicas"); err != nil {
		return err
	}
	return c.Update(ctx, sent)
}

func wantReadOnly(t *testing.T, was *unstructured.Unstructured) {
	t.Helper()
	ann := person(t, was.GetNamespace())
	harness.Await(t, "the console's update to be refused by the operator", func(ctx context.Context) (bool, string) {
		err := put(ctx, ann, redis(t, was.GetNamespace(), was.GetName()))
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "is managed by git: change it in "), fmt.Sprint(err)
	})
}

// wantFree edits it as the console does, and looks that the edit stays.
func wantFree(t *testing.T, was *unstructured.Unstructured) {
	t.Helper()
	if err := put(t.Context(), person(t, was.GetNamespace()), redis(t, was.GetNamespace(), was.GetName())); err != nil {
		t.Errorf("the console's update: %v", err)
	}
	is := redis(t, was.GetNamespace(), was.GetName())
	if replicas, _, _ := unstructured.NestedInt64(is.Object, "spec", "replicas"); replicas != 7 || is.GetUID() != was.GetUID() {
		t.Errorf("after the console's update there are %d replicas of %s, want 7 of %s", replicas, is.GetUID(), was.GetUID())
	}
}

// TestOrphanedApplicationsAreFree: what a source leaves behind has no owner's labels.
func TestOrphanedApplicationsAreFree(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what  string
		leave func(t *testing.T, namespace string)
	}{
		{"source", func(t *testing.T, namespace string) {
			tenant := harness.Read(t, cluster.Client, namespace)
			write(t, namespace, tenant.Spec.Sources[1])
		}},
		{"tenantgitops", func(t *testing.T, namespace string) {
			tenant := harness.Read(t, cluster.Client, namespace)
			if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
				t.Fatal(err)
			}
			harness.AwaitGone(t, cluster.Client, tenant)
		}},
		{"unpruned", func(t *testing.T, namespace string) {
			tenant := harness.Read(t, cluster.Client, namespace)
			no := false
			tenant.Spec.Sources[0].Prune = &no
			write(t, namespace, tenant.Spec.Sources...)
			tenant.Spec.Sources[0].Path = "two"
			tenant.Spec.Sources[1].Suspend = true
			write(t, namespace, tenant.Spec.Sources...)
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			namespace := "tenant-left" + test.what
			repository, commit := newTenant(t, namespace, start("cache"))
			write(t, namespace, folder(t, namespace, "one", repository), folder(t, namespace, "two", repository))
			awaitApplied(t, namespace, "one", commit)
			awaitApplied(t, namespace, "two", commit)
			was := redis(t, namespace, "cache")
			wantReadOnly(t, was)
			test.leave(t, namespace)
			awaitFree(t, was)
			wantFree(t, was)
		})
	}
}

// TestMovedTargetFreesWhatItLeft: a source that prunes nothing goes to another namespace,
// and the operator goes after it when the labels are off.
func TestMovedTargetFreesWhatItLeft(t *testing.T) {
	t.Parallel()
	const parent, child = "tenant-leftbelow", "tenant-leftbelow-child"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := newTenant(t, parent, start("cache"))
	source := folder(t, parent, "one", repository)
	no := false
	source.TargetNamespace, source.Prune = child, &no
	write(t, parent, source)
	awaitApplied(t, parent, "one", commit)
	was := redis(t, child, "cache")
	source.TargetNamespace = ""
	write(t, parent, source)
	awaitFree(t, was)
	harness.Await(t, "the operator to leave the child's namespace", func(context.Context) (bool, string) {
		left := harness.Leftovers(t, cluster.Client, parent)
		for _, object := range left {
			if strings.Contains(object, child+"/") {
				return false, object
			}
		}
		return true, ""
	})
	wantSame(t, redis(t, parent, "cache"), parent+"/gitops-one")
}

// TestKustomizationWrittenByHandFreesWhatItLeft: the operator sees its end as well.
func TestKustomizationWrittenByHandFreesWhatItLeft(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-leftraw"
	repository, commit := newTenant(t, namespace, start("cache"))
	write(t, namespace, folder(t, namespace, "two", repository))
	awaitApplied(t, namespace, "two", commit)
	raw := &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "by-hand", Labels: map[string]string{platform.ShardLabel: namespace}},
		Spec: kustomizev1.KustomizationSpec{
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "gitops-two"},
			Path:      "one", Interval: day, Prune: true, DeletionPolicy: kustomizev1.DeletionPolicyOrphan,
			TargetNamespace: namespace, ServiceAccountName: namespace + "-gitops",
		},
	}
	if err := cluster.Client.Create(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	harness.AwaitExists(t, cluster.Client, fixtures.Application("Redis", namespace, "cache"))
	was := redis(t, namespace, "cache")
	wantReadOnly(t, was)
	if err := cluster.Client.Delete(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	awaitFree(t, was)
	wantFree(t, was)
}

// TestOthersWorkAsEver: an application that no source has is the console's.
func TestOthersWorkAsEver(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-others"
	repository, commit := newTenant(t, namespace, start("cache"))
	write(t, namespace, folder(t, namespace, "one", repository))
	awaitApplied(t, namespace, "one", commit)
	other := fixtures.Application("Redis", namespace, "byhand")
	if err := unstructured.SetNestedField(other.Object, int64(1), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Create(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	wantReadOnly(t, redis(t, namespace, "cache"))
	wantFree(t, other)
}
