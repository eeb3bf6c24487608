package packages

import (
	"context"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// write creates a release, or replaces it without a look at whether it differs: labels,
// annotations and finalizers of others stay, and so does a suspension; whatever else they
// have put into the spec or among the owners goes. The error is the API server's own.
func (r *Reconciler) write(ctx context.Context, release *kinds.HelmRelease) error {
	stored := &kinds.HelmRelease{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(release), stored)
	if apierrors.IsNotFound(err) {
		return r.Client.Create(ctx, release)
	}
	if err != nil {
		return err
	}
	stored.Labels = merged(stored.Labels, release.Labels)
	stored.Annotations = merged(stored.Annotations, release.Annotations)
	stored.OwnerReferences = release.OwnerReferences
	suspended := stored.Spec.Suspend
	stored.Spec = release.Spec
	stored.Spec.Suspend = suspended
	return r.Client.Update(ctx, stored)
}

// merged are both, and of a key in both it is the second's value.
func merged(theirs, ours map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, theirs)
	maps.Copy(all, ours)
	return all
}
