package helmreleases

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

func awaitGone(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("%s %s to be gone", object.GetKind(), object.GetName()), func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return apierrors.IsNotFound(err), fmt.Sprintf("%v %v", err, object.Object)
	})
}

func installed(t *testing.T, release *unstructured.Unstructured) bool {
	t.Helper()
	err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: release.GetNamespace(), Name: release.GetName() + "-values"}, &corev1.ConfigMap{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

func TestDeletedReleaseIsUninstalled(t *testing.T) {
	namespace := newNamespace(t, "uninstalls")
	release := newRelease(t, namespace, "db", "")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	if err := cluster.Client.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, release)
	if installed(t, release) {
		t.Error("the release's ConfigMap is still there")
	}
	secrets := &corev1.SecretList{}
	if err := cluster.Client.List(t.Context(), secrets, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	if len(secrets.Items) > 0 {
		t.Errorf("Helm still stores %d releases", len(secrets.Items))
	}
}

func TestDeletedReleaseThatIsSuspendedStaysInstalled(t *testing.T) {
	release := newRelease(t, newNamespace(t, "leaves"), "db", "")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	change(t, release, "spec: {suspend: true}")
	if err := cluster.Client.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, release)
	if !installed(t, release) {
		t.Error("the release of a suspended HelmRelease was uninstalled")
	}
}

func TestReleaseWithoutItsFinalizerIsLeftInstalled(t *testing.T) {
	release := newRelease(t, newNamespace(t, "loses"), "db", "")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	change(t, release, "metadata: {finalizers: null}")
	if err := cluster.Client.Delete(t.Context(), release); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, release)
	if !installed(t, release) {
		t.Error("somebody uninstalled a release whose finalizer was gone")
	}
}
