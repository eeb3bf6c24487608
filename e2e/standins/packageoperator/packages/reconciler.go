// Package packages reconciles Packages as the platform's own operator does, as far as
// others can see it: the HelmReleases of a Package, how they are written, which are
// deleted, the namespaces they are in, what the status says, and what makes the operator
// look again.
//
// Not here is what else it does: the artifacts of PackageSources, copies of the platform's
// values, limits of memory, and Flux itself.
package packages

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// Reconciler reconciles Packages.
type Reconciler struct {
	// Client reads from a cache, which may be behind, and writes.
	Client *counts.Client
	// Counter counts the reconciliations.
	Counter *counts.Counter
	// RetryInterval is how soon Flux is to try a failed release again.
	RetryInterval time.Duration
}

// Reconcile makes the HelmReleases of one Package what the Package and its PackageSource
// say, whether or not they are so already.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	pkg := &kinds.Package{}
	if err := r.Client.Get(ctx, request.NamespacedName, pkg); err != nil {
		// Its releases are garbage by then.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	defer func() { r.Counter.Reconciled(request.Name, err != nil) }()
	source := &kinds.PackageSource{}
	err = r.Client.Get(ctx, request.NamespacedName, source)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, r.notReady(ctx, pkg, "PackageSourceNotFound", "there is no PackageSource "+pkg.Name)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read PackageSource %s: %w", pkg.Name, err)
	}
	variant := source.Variant(pkg.Variant())
	if variant == nil {
		message := fmt.Sprintf("PackageSource %s has no variant %s", pkg.Name, pkg.Variant())
		return ctrl.Result{}, r.notReady(ctx, pkg, "VariantNotFound", message)
	}
	return ctrl.Result{}, r.install(ctx, pkg, source, variant)
}

// install writes the releases of a variant, and deletes those of others.
func (r *Reconciler) install(ctx context.Context, pkg *kinds.Package, source *kinds.PackageSource, variant *kinds.Variant) error {
	if err := r.applyNamespaces(ctx, pkg, variant); err != nil {
		return err
	}
	if ready := r.noteDependencies(ctx, pkg, variant); !ready {
		return r.notReady(ctx, pkg, "DependenciesNotReady", "not all Packages that it depends on are ready")
	}
	written := 0
	for i := range variant.Components {
		component := &variant.Components[i]
		if !pkg.Installs(component) {
			continue
		}
		release, err := r.release(ctx, pkg, source, variant, component)
		if err != nil {
			message := fmt.Sprintf("the dependencies of component %s: %v", component.Name, err)
			return r.notReady(ctx, pkg, "DependsOnFailed", message)
		}
		if err := r.write(ctx, release); err != nil {
			// It says create of an update too.
			message := fmt.Sprintf("Failed to create HelmRelease %s: %v", release.Name, err)
			if err := r.notReady(ctx, pkg, "HelmReleaseFailed", message); err != nil {
				return err
			}
			return err
		}
		written++
	}
	if err := r.deleteOrphans(ctx, pkg, variant); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot delete the releases that are not the variant's")
	}
	// Whether they are installed is not asked.
	message := fmt.Sprintf("releases generated: %d", written)
	if err := r.say(ctx, pkg, metav1.ConditionTrue, "ReconciliationSucceeded", message); err != nil {
		return err
	}
	if err := r.tellDependents(ctx, pkg.Name); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot tell those that depend on the Package")
	}
	return nil
}

func (r *Reconciler) notReady(ctx context.Context, pkg *kinds.Package, reason, message string) error {
	return r.say(ctx, pkg, metav1.ConditionFalse, reason, message)
}

// say writes the whole status, as it was read but for the Ready condition, even where that
// says so already.
func (r *Reconciler) say(ctx context.Context, pkg *kinds.Package, status metav1.ConditionStatus, reason, message string) error {
	apimeta.SetStatusCondition(&pkg.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: status, Reason: reason, Message: message,
	})
	if err := r.Client.UpdateStatus(ctx, pkg); err != nil {
		return fmt.Errorf("write the status of Package %s: %w", pkg.Name, err)
	}
	return nil
}
