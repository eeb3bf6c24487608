package packages

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// deleteOrphans deletes every HelmRelease with the Package's label that the variant has
// not, whoever made it, and wherever it is.
func (r *Reconciler) deleteOrphans(ctx context.Context, pkg *kinds.Package, variant *kinds.Variant) error {
	wanted := map[client.ObjectKey]bool{}
	for i := range variant.Components {
		if component := &variant.Components[i]; pkg.Installs(component) {
			wanted[client.ObjectKey{Namespace: component.Install.Namespace, Name: component.ReleaseName()}] = true
		}
	}
	releases := &kinds.HelmReleaseList{}
	if err := r.Client.List(ctx, releases, client.MatchingLabels{PackageLabel: pkg.Name}); err != nil {
		return fmt.Errorf("list the HelmReleases of Package %s: %w", pkg.Name, err)
	}
	var failures []error
	for i := range releases.Items {
		release := &releases.Items[i]
		key := client.ObjectKeyFromObject(release)
		if wanted[key] {
			continue
		}
		if err := r.Client.Delete(ctx, release); client.IgnoreNotFound(err) != nil {
			failures = append(failures, fmt.Errorf("delete HelmRelease %s: %w", key, err))
		}
	}
	return errors.Join(failures...)
}
