package harness

import (
	"context"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// InstallCustomizer lays in what config/customizer adds to the operator: roles and guards.
func InstallCustomizer(ctx context.Context, c *embedded.Cluster, root string) error {
	return manifests.ApplyPaths(ctx, c.Client, root+"/config/customizer/rbac", root+"/config/customizer/guards")
}

// CustomizerOn switches the admin tier of an operator on.
func CustomizerOn(options *operator.Options) { options.Customizer = true }
