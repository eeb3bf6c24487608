package releases

import (
	"context"
	"fmt"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// delete uninstalls the release of a HelmRelease that goes, and lets it go. One that is
// suspended leaves its release where it is.
func (p *pass) delete(ctx context.Context) error {
	if !controllerutil.ContainsFinalizer(p.object, v2.HelmReleaseFinalizer) {
		return nil
	}
	if !p.object.Spec.Suspend && p.object.Status.StorageNamespace != "" {
		possible, err := p.canUninstall(ctx)
		if err != nil {
			return p.notReady(v2.UninstallFailedReason, err.Error(), err)
		}
		if possible {
			if err := p.uninstall(); err != nil {
				return err
			}
		}
		p.object.Status.ClearHistory()
		p.object.Status.StorageNamespace = ""
	}
	controllerutil.RemoveFinalizer(p.object, v2.HelmReleaseFinalizer)
	return nil
}

// canUninstall tells whether the account that the release acts as is still there; in a
// namespace that is deleted it may be gone before.
func (p *pass) canUninstall(ctx context.Context) (bool, error) {
	name := p.object.Spec.ServiceAccountName
	if name == "" {
		return true, nil
	}
	err := p.Live.Get(ctx, client.ObjectKey{Namespace: p.object.Namespace, Name: name}, &corev1.ServiceAccount{})
	if apierrors.IsNotFound(err) {
		ctrl.LoggerFrom(ctx).Info("skipping Helm release uninstallation: no such service account", "account", name)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("failed to confirm ServiceAccount '%s' can be used to uninstall release: %w", name, err)
	}
	return true, nil
}

// uninstall removes the newest release of the history.
func (p *pass) uninstall() error {
	latest := p.object.Status.History.Latest()
	if latest == nil {
		return nil
	}
	defer p.summarize()
	target := p.object.DeepCopy()
	// What is stored is what is removed, whatever the HelmRelease says meanwhile.
	target.Spec.ReleaseName, target.Spec.TargetNamespace = latest.Name, latest.Namespace
	releases, err := p.Access.Open(target, p.object.Status.StorageNamespace)
	if err == nil {
		err = releases.Uninstall()
	}
	if err != nil {
		message := fmt.Sprintf("Helm uninstall failed for release %s with chart %s: %s", latest.FullReleaseName(), latest.VersionedChartName(), err)
		p.object.Status.Failures++
		conditions.MarkFalse(p.object, v2.ReleasedCondition, v2.UninstallFailedReason, "%s", message)
		p.Events.Event(p.object, corev1.EventTypeWarning, v2.UninstallFailedReason, message)
		return err
	}
	message := fmt.Sprintf("Helm uninstall succeeded for release %s with chart %s", latest.FullReleaseName(), latest.VersionedChartName())
	conditions.MarkFalse(p.object, v2.ReleasedCondition, v2.UninstallSucceededReason, "%s", message)
	p.Events.Event(p.object, corev1.EventTypeNormal, v2.UninstallSucceededReason, message)
	return nil
}

// leaveOldTarget uninstalls a release that goes by another name, or lies elsewhere, than
// the HelmRelease says now. It tells whether it did.
func (p *pass) leaveOldTarget(chartName string) (bool, error) {
	status := &p.object.Status
	latest := status.History.Latest()
	if latest == nil || status.StorageNamespace == "" {
		return false, nil
	}
	if latest.Name == p.object.GetReleaseName() && latest.Namespace == p.object.GetReleaseNamespace() &&
		status.StorageNamespace == p.object.GetStorageNamespace() && latest.ChartName == chartName {
		return false, nil
	}
	if err := p.uninstall(); err != nil {
		return true, err
	}
	status.ClearHistory()
	status.ClearFailures()
	status.StorageNamespace = ""
	return true, errAgain
}
