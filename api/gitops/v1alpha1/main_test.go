package v1alpha1_test

import (
	"context"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(embedded.Main(m, embedded.Options{
		CRDPaths: []string{"../../../config/crd/bases"},
		Scheme:   operator.Scheme(),
	}, func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		parameters := &gitopsv1.GitOpsParameters{
			TypeMeta:   metav1.TypeMeta{APIVersion: gitopsv1.GroupVersion.String(), Kind: "GitOpsParameters"},
			ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName},
		}
		if err := manifests.Apply(ctx, c.Client, parameters); err != nil {
			return err
		}
		return manifests.ApplyPaths(ctx, c.Client, "../../../config/policies")
	}))
}
