// Package releases reconciles HelmReleases as Flux's helm-controller does, as far as
// others can see it: finalizer, composed values, conditions and their reasons, history,
// counts of failures, and what makes it look again.
//
// Not here are Helm tests, drift detection, post-renderers, remote clusters, dependency
// expressions and the artifacts of sources, in whose place there is a library of charts.
package releases

import (
	"context"
	"errors"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	"github.com/fluxcd/pkg/runtime/patch"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/charts"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/helm"
)

// ownedConditions are those that nobody else writes.
var ownedConditions = []string{
	v2.ReleasedCondition, v2.RemediatedCondition, v2.TestSuccessCondition,
	meta.ReconcilingCondition, meta.ReadyCondition, meta.StalledCondition,
}

var (
	// errNotYet is of what something else must bring about; it is looked at again after
	// the interval for dependencies, and counts as not observed.
	errNotYet = errors.New("must wait for something else")
	// errAgain asks to be called again at once.
	errAgain = errors.New("must be called again")
)

// Reconciler reconciles HelmReleases.
type Reconciler struct {
	// Client finds HelmReleases in its cache, and writes.
	Client client.Client
	// Live reads past the cache.
	Live client.Reader
	// Access is how Helm reaches the cluster.
	Access *helm.Access
	// Charts are those of the sources.
	Charts charts.Library
	// Events takes what befalls a release.
	Events record.EventRecorder
	// DependencyInterval is how soon it looks again at what it waits for.
	DependencyInterval time.Duration
}

// pass is one reconciliation of one HelmRelease.
type pass struct {
	*Reconciler
	object  *v2.HelmRelease
	patcher *patch.SerialPatcher
}

// Reconcile brings one release to what its HelmRelease says.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (result ctrl.Result, err error) {
	// Not from the cache, which may not have the history yet that was written last: the
	// release would be taken for somebody else's.
	object := &v2.HelmRelease{}
	if err := r.Live.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	p := &pass{Reconciler: r, object: object, patcher: patch.NewSerialPatcher(object, r.Client)}
	defer func() { result, err = p.finish(ctx, result, err) }()
	if !object.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, p.delete(ctx)
	}
	if controllerutil.AddFinalizer(object, v2.HelmReleaseFinalizer) {
		// Nothing is installed before the finalizer is stored.
		return ctrl.Result{}, errAgain
	}
	if object.Spec.Suspend {
		return ctrl.Result{}, nil
	}
	return p.release(ctx)
}

// finish writes the status, and turns the errors that only say when to look again into
// results.
func (p *pass) finish(ctx context.Context, result ctrl.Result, err error) (ctrl.Result, error) {
	if token, requested := meta.ReconcileAnnotationValue(p.object.GetAnnotations()); requested {
		p.object.Status.SetLastHandledReconcileRequest(token)
	}
	options := []patch.Option{
		patch.WithFieldOwner(helm.FieldManager), patch.WithOwnedConditions{Conditions: ownedConditions},
	}
	if err == nil || errors.Is(err, reconcile.TerminalError(nil)) {
		options = append(options, patch.WithStatusObservedGeneration{})
	}
	patchErr := p.patcher.Patch(ctx, p.object, options...)
	if !p.object.DeletionTimestamp.IsZero() {
		// Without its finalizer it may be gone before its status is written.
		patchErr = kerrors.FilterOut(patchErr, apierrors.IsNotFound)
	}
	switch {
	case patchErr != nil:
		return ctrl.Result{}, errors.Join(err, patchErr)
	case errors.Is(err, errAgain):
		return ctrl.Result{RequeueAfter: time.Millisecond}, nil
	case errors.Is(err, errNotYet):
		return ctrl.Result{RequeueAfter: p.DependencyInterval}, nil
	}
	return result, err
}

// patch writes how far it has come.
func (p *pass) patch(ctx context.Context) error {
	return p.patcher.Patch(ctx, p.object,
		patch.WithFieldOwner(helm.FieldManager), patch.WithOwnedConditions{Conditions: ownedConditions})
}

// notReady says why, and returns the error.
func (p *pass) notReady(reason string, message string, err error) error {
	conditions.MarkFalse(p.object, meta.ReadyCondition, reason, "%s", message)
	return err
}

// passed takes back a Ready condition that says one of these reasons.
func (p *pass) passed(reasons ...string) {
	if conditions.HasAnyReason(p.object, meta.ReadyCondition, reasons...) {
		conditions.MarkUnknown(p.object, meta.ReadyCondition, meta.ProgressingReason, "reconciliation in progress")
	}
}
