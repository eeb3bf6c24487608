//go:build kind

package pods_test

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// missingImage can be pulled from nowhere: nothing listens there.
const missingImage = "127.0.0.1:1/kustomize-controller:missing"

// TestNamespaceTerminatesWhereTheImageIsMissing gives the operator an image that cannot
// be pulled, and deletes namespaces of tenants whose controllers ran before, and of
// tenants whose controllers never did. Nothing runs beside it, since every tenant's
// controller is of that image meanwhile.
func TestNamespaceTerminatesWhereTheImageIsMissing(t *testing.T) {
	files := map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}
	ran := []string{"tenant-ran0", "tenant-ran1", "tenant-ran2"}
	never := []string{"tenant-never0", "tenant-never1"}
	commits := map[string]string{}
	for _, namespace := range ran {
		_, commits[namespace] = stage.Enable(t, namespace, files, nil)
	}
	for _, namespace := range ran {
		harness.AwaitApplied(t, stage.Client, namespace, commits[namespace])
	}

	t.Cleanup(func() {
		if err := stage.InstallOperator(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// All at once: the first wave would hold the others up, as it should.
	if err := stage.InstallOperator(t.Context(), "--controller-image="+missingImage, "--rollout-batch=1000"); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range never {
		stage.Enable(t, namespace, files, nil)
	}
	all := slices.Concat(ran, never)
	for _, namespace := range all {
		status := harness.AwaitCondition(t, stage.Client, namespace, metav1.ConditionFalse, "ImagePull").Status.Controller
		if status == nil || status.Ready || status.Image != missingImage {
			t.Errorf("the status of the controller of %s is %+v", namespace, status)
		}
	}
	deleteNamespaces(t, all...)
}
