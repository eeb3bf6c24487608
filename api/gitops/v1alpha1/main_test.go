package v1alpha1_test

import (
	"context"
	"os"
	"testing"

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
		return manifests.ApplyPaths(ctx, c.Client, "../../../config/policies")
	}))
}
