package packagevalues

import (
	"context"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// leftoversInterval is how often it is tried to list what is left.
const leftoversInterval = 10 * time.Second

// leftovers finds, once, releases that are still overridden for a PackageValues which was
// deleted while no operator ran. A finalizer would find them too, and hold a PackageValues
// where the operator is gone for good.
type leftovers struct {
	reader client.Reader
	found  chan event.GenericEvent
}

// Start lists until it could.
func (l *leftovers) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, leftoversInterval, true, func(ctx context.Context) (bool, error) {
		list, err := listOverridden(ctx, l.reader)
		if apimeta.IsNoMatchError(err) {
			// Where HelmReleases come later, none of them is from before.
			return true, nil
		}
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot list the HelmReleases that are overridden")
			return false, nil
		}
		for i := range list.Items {
			values := &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: list.Items[i].Labels[packages.PackageLabel]}}
			select {
			case l.found <- event.GenericEvent{Object: values}:
			case <-ctx.Done():
			}
		}
		return true, nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// mayBeLeft says whether a release of a Package without a PackageValues is overridden still, or
// that cannot be known. Where Packages are not served, nothing else is to be done about one
// that is gone: without such a release nobody needs to look again.
func (r *Reconciler) mayBeLeft(ctx context.Context, name string) bool {
	list, err := listOverridden(ctx, r.Live, client.MatchingLabels{packages.PackageLabel: name})
	if apimeta.IsNoMatchError(err) {
		return false
	}
	return err != nil || len(list.Items) > 0
}

// listOverridden lists what is known of the HelmReleases with our label, beside their content.
func listOverridden(ctx context.Context, reader client.Reader, options ...client.ListOption) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(helmrelease.GroupVersion.WithKind("HelmReleaseList"))
	return list, reader.List(ctx, list, append(options, client.HasLabels{packages.OverriddenLabel})...)
}
