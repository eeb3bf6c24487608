// Package packagevalues reconciles PackageValues: it has the HelmReleases of a Package written
// anew when their values are to be others, and says in the status what came of it. The values
// themselves are put in by the webhook, when a HelmRelease is written: so nobody contends for
// them with the platform's own operator, which writes every HelmRelease as a whole.
package packagevalues

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Config of the reconciler.
type Config struct {
	// OperatorNamespace is the one whose releases nothing overrides: with its webhook down the
	// operator's own release could not be mended.
	OperatorNamespace string
	// ResyncInterval is how often a PackageValues is looked at when nothing happens.
	ResyncInterval time.Duration
}

// Reconciler reconciles PackageValues.
type Reconciler struct {
	// Client reads PackageValues from the manager's cache, and writes their status.
	Client client.Client
	// Releases writes HelmReleases and Packages.
	Releases client.Client
	// Live reads past all caches.
	Live client.Reader
	// Events records events for admins.
	Events events.EventRecorder
	Config Config

	platform *platformWatch
	// told holds, by name, the state of each PackageValues that an Event has told of last.
	told sync.Map
	// refusals holds, by the name of the Package, what its releases did not take last.
	refusals sync.Map
}

// retryInterval is after how long the platform is looked at again where it is not there, and
// a release written again that did not take its values.
const retryInterval = 15 * time.Second

// conflictInterval is after how long a PackageValues is looked at again where somebody else
// has written it, or its Package, at the same moment, which is no failure.
const conflictInterval = time.Second

// Reconcile makes the releases of one Package agree with its PackageValues, or with the
// Package alone where there is none any more.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, request)
	if apierrors.IsConflict(err) {
		ctrl.LoggerFrom(ctx).V(1).Info("somebody else wrote at the same moment", "error", err.Error())
		return ctrl.Result{RequeueAfter: conflictInterval}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	values := &cozyv1.PackageValues{}
	err := r.Client.Get(ctx, request.NamespacedName, values)
	switch {
	case apierrors.IsNotFound(err) || err == nil && !values.DeletionTimestamp.IsZero():
		values = nil
	case err != nil:
		return ctrl.Result{}, fmt.Errorf("cannot read PackageValues %s: %w", request.Name, err)
	}
	if err := r.platform.ensure(ctx); err != nil {
		if values == nil {
			if apimeta.IsNoMatchError(err) && !r.mayBeLeft(ctx, request.Name) {
				return ctrl.Result{}, nil
			}
			return ctrl.Result{RequeueAfter: retryInterval}, nil
		}
		verdict := override.Verdict{Ready: "False", Reason: cozyv1.ReasonPlatformNotReady, Message: err.Error(), Event: err.Error()}
		return ctrl.Result{RequeueAfter: retryInterval}, r.report(ctx, values, verdict, nil)
	}
	seen, err := r.look(ctx, request.Name, values)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.write(ctx, request.Name, &seen); err != nil {
		return ctrl.Result{}, err
	}
	if err := r.tellPackage(ctx, seen.Package, values); err != nil {
		return ctrl.Result{}, err
	}
	var result ctrl.Result
	if len(seen.Refused) > 0 {
		result.RequeueAfter = retryInterval
	}
	if values == nil {
		r.told.Delete(request.Name)
		return result, nil
	}
	if result.RequeueAfter == 0 {
		result.RequeueAfter = r.Config.ResyncInterval
	}
	verdict, ok := seen.Missing(request.Name)
	var components []cozyv1.ComponentStatus
	if ok {
		components = seen.Components()
		verdict = override.VerdictOf(values.Spec, components)
	}
	return result, r.report(ctx, values, verdict, components)
}

// look reads what an answer is made of.
func (r *Reconciler) look(ctx context.Context, name string, values *cozyv1.PackageValues) (override.Seen, error) {
	seen := override.Seen{
		Snapshot:          override.Snapshot{Values: values},
		Refused:           map[types.NamespacedName]string{},
		OperatorNamespace: r.Config.OperatorNamespace,
	}
	pkg, source := &packages.Package{}, &packages.PackageSource{}
	switch err := r.platform.cache.Get(ctx, client.ObjectKey{Name: name}, pkg); {
	case err == nil:
		seen.Package = pkg
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("cannot read Package %s: %w", name, err)
	}
	switch err := r.platform.cache.Get(ctx, client.ObjectKey{Name: name}, source); {
	case err == nil:
		seen.Source = source
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("cannot read PackageSource %s: %w", name, err)
	}
	var list packages.ReleaseList
	if err := r.platform.releases.List(ctx, &list, client.MatchingLabels{packages.PackageLabel: name}); err != nil {
		return seen, fmt.Errorf("cannot list the HelmReleases of Package %s: %w", name, err)
	}
	seen.Releases = list.Items
	return seen, nil
}

// write has the webhook asked about every release whose values or label are not as they should
// be, and notes which do not take them. Errors are those that say nothing about a release.
func (r *Reconciler) write(ctx context.Context, name string, seen *override.Seen) error {
	refused := refusalsOf{}
	defer r.keepRefusals(name, refused)
	for _, write := range seen.Plan(seen.Releases, r.Config.OperatorNamespace) {
		if last, recent := r.refusedRecently(name, write); recent {
			refused[write.Release], seen.Refused[write.Release] = last, last.why
			continue
		}
		written, err := r.touch(ctx, write)
		switch {
		case apierrors.IsNotFound(err):
		case isPassing(err):
			return fmt.Errorf("cannot write HelmRelease %s: %w", write.Release, err)
		case err != nil:
			refused.note(write, err.Error())
			seen.Refused[write.Release] = err.Error()
		case written.Digest != write.Digest && !r.isBehind(ctx, name, written):
			refused.note(write, notAsked)
			seen.Refused[write.Release] = notAsked
		default:
			for i := range seen.Releases {
				if release := &seen.Releases[i]; release.Namespace == written.Namespace && release.Name == written.Name {
					*release = *written
				}
			}
		}
	}
	return nil
}

// isBehind says whether a release that was written has the values that it is to have now: the
// webhook has seen what the caches have not yet, and tell of soon.
func (r *Reconciler) isBehind(ctx context.Context, name string, written *packages.Release) bool {
	now, err := override.Read(ctx, r.Live, name)
	if err != nil {
		return false
	}
	answer, err := now.ForRelease(client.ObjectKeyFromObject(written))
	if err != nil || answer.Stance == override.Frozen || answer.Stance == override.Unknown {
		return err == nil
	}
	digest, err := packages.Digest(answer.Values)
	return err == nil && digest == written.Digest
}

// touch changes the label and the annotation of a release.
func (r *Reconciler) touch(ctx context.Context, write override.Write) (*packages.Release, error) {
	var label, wanted any
	if write.Overridden {
		label, wanted = packages.Overridden, write.Wanted
	}
	patch, err := mergePatch(map[string]any{"metadata": map[string]any{
		"labels":      map[string]any{packages.OverriddenLabel: label},
		"annotations": map[string]any{packages.WantedAnnotation: wanted},
	}})
	if err != nil {
		return nil, err
	}
	release := &packages.Release{}
	release.Namespace, release.Name = write.Release.Namespace, write.Release.Name
	if err := r.Releases.Patch(ctx, release, patch, client.FieldOwner(fieldManager)); err != nil {
		return nil, err
	}
	stripped, err := packages.Strip(release)
	if err != nil {
		return nil, err
	}
	return stripped.(*packages.Release), nil
}

// isPassing says whether an error comes from an API server that is busy or away.
func isPassing(err error) bool {
	return err != nil && (apierrors.IsConflict(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded))
}

// requested is the request to reconcile that a PackageValues bears.
func requested(values *cozyv1.PackageValues) string {
	value, _ := meta.ReconcileAnnotationValue(values.Annotations)
	return value
}
