package gitopsparameters_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestThereAreAlwaysParameters deletes the object before the operator starts, and while
// it runs, and edits it: an edit is the admin's and stays.
func TestThereAreAlwaysParameters(t *testing.T) {
	remove(t)
	first := harness.WithOperator(t, cluster, harness.Config())
	created := awaitParameters(t)
	if spec := created.Spec; !slices.Equal(spec.AdminGroups, gitopsv1.DefaultAdminGroups()) || len(spec.AllowedHosts) != 0 || spec.AllowSubmodules ||
		spec.MinInterval.Duration.String() != "30s" || spec.MaxTimeout.Duration.String() != "5m0s" || spec.MaxSources != gitopsv1.DefaultMaxSources {
		t.Errorf("the parameters are %+v", spec)
	}
	remove(t)
	edited := awaitParameters(t)
	base := edited.DeepCopy()
	edited.Spec.AllowedHosts = []string{"git.acme.internal"}
	if err := cluster.Client.Patch(t.Context(), edited, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	// What it does with one that is there shows when it starts, and when another is gone.
	harness.WithOperator(t, cluster, harness.Config())
	harness.NewTenant(t, cluster.Client, "tenant-parameters")
	harness.Write(t, cluster.Client, "tenant-parameters", gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://git.acme.internal/apps"}})
	harness.AwaitCondition(t, cluster.Client, "tenant-parameters", metav1.ConditionFalse, "source apps")
	if kept := awaitParameters(t); kept.UID != edited.UID || !slices.Equal(kept.Spec.AllowedHosts, edited.Spec.AllowedHosts) {
		t.Errorf("the admin's parameters have become %+v", kept.Spec)
	}
}

func remove(t *testing.T) {
	t.Helper()
	gone := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
	if err := cluster.Client.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
}

func awaitParameters(t *testing.T) *gitopsv1.GitOpsParameters {
	t.Helper()
	parameters := &gitopsv1.GitOpsParameters{}
	harness.Await(t, "the parameters", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters)
		return err == nil && parameters.DeletionTimestamp.IsZero(), fmt.Sprint(err)
	})
	return parameters
}
