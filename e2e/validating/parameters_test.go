package validating_test

import (
	"context"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// useParameters sets fields of the GitOpsParameters for the length of a test. The operator
// hears of it a moment later.
func useParameters(t *testing.T, spec map[string]any) {
	t.Helper()
	reset := map[string]any{}
	for field := range spec {
		// Without a value it has its default again.
		reset[field] = nil
	}
	write := func(ctx context.Context, spec map[string]any) error {
		patch, err := json.Marshal(map[string]any{"spec": spec})
		if err != nil {
			return err
		}
		parameters := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
		return cluster.Client.Patch(ctx, parameters, client.RawPatch(types.MergePatchType, patch))
	}
	t.Cleanup(func() {
		if err := write(context.Background(), reset); err != nil {
			t.Error(err)
		}
	})
	if err := write(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
}
