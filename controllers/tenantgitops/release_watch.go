package tenantgitops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// releasesTimeout bounds the wait for the first list of HelmReleases.
const releasesTimeout = 10 * time.Second

// releaseWatch watches the HelmReleases of applications, from the time that they are
// served: the manager's own cache would refuse to start without the kind.
type releaseWatch struct {
	cache   cache.Cache
	handler handler.EventHandler

	mu         sync.Mutex
	controller controller.Controller
	watched    bool
	// late: the first list did not come in time, and is waited for no more.
	late bool
}

// newReleaseWatch makes the watch; it is idle until it is first asked. Only releases of
// applications are asked for, so the values of the platform's own are never even sent.
func newReleaseWatch(mgr ctrl.Manager, toTenants handler.EventHandler) (*releaseWatch, error) {
	releases, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:                  mgr.GetHTTPClient(),
		Scheme:                      mgr.GetScheme(),
		Mapper:                      mgr.GetRESTMapper(),
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            helmrelease.Strip,
		DefaultLabelSelector:        labels.SelectorFromSet(labels.Set{helmrelease.GroupLabel: stamp.ApplicationsGroup}),
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache of HelmReleases: %w", err)
	}
	if err := mgr.Add(releasesCache{releases}); err != nil {
		return nil, fmt.Errorf("cannot add the cache of HelmReleases: %w", err)
	}
	return &releaseWatch{cache: releases, handler: toTenants}, nil
}

// releasesCache runs in every replica: it is idle until the leader asks it, and one that
// comes to lead need not wait for it to be started.
type releasesCache struct{ cache.Cache }

// NeedLeaderElection says no.
func (releasesCache) NeedLeaderElection() bool { return false }

// notify says whose queue an event goes to.
func (w *releaseWatch) notify(c controller.Controller) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.controller = c
}

// ensure starts the watch, and waits until the cache holds what there is: a pass before
// that would take every failure for mended.
func (w *releaseWatch) ensure(ctx context.Context) error {
	informer, err := w.cache.GetInformer(ctx, &helmrelease.HelmRelease{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cannot watch HelmReleases: %w", err)
	}
	if !informer.HasSynced() && !w.awaitFirstList(ctx) {
		return errors.New("cannot list HelmReleases in time: the operator may lack the right to, compare its roles with config/rbac")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched || w.controller == nil {
		return nil
	}
	if err := w.controller.Watch(source.Kind[client.Object](w.cache, &helmrelease.HelmRelease{}, w.handler, releaseChanged)); err != nil {
		return fmt.Errorf("cannot watch HelmReleases: %w", err)
	}
	w.watched = true
	return nil
}

// awaitFirstList waits for the first list, once: where it does not come, every pass of every
// tenant would otherwise take that long.
func (w *releaseWatch) awaitFirstList(ctx context.Context) bool {
	w.mu.Lock()
	late := w.late
	w.mu.Unlock()
	if late {
		return false
	}
	waiting, cancel := context.WithTimeout(ctx, releasesTimeout)
	defer cancel()
	synced := w.cache.WaitForCacheSync(waiting)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = !synced && ctx.Err() == nil
	return synced
}

// In lists the releases of applications in these namespaces.
func (w *releaseWatch) In(ctx context.Context, namespaces ...string) ([]helmrelease.HelmRelease, error) {
	if err := w.ensure(ctx); err != nil {
		return nil, err
	}
	var releases []helmrelease.HelmRelease
	for _, namespace := range namespaces {
		var list helmrelease.HelmReleaseList
		if err := w.cache.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("cannot list HelmReleases of namespace %s: %w", namespace, err)
		}
		releases = append(releases, list.Items...)
	}
	return releases, nil
}

// releaseChanged lets through what changes something that is read. helm-controller writes
// its history and other fields of the status oftener than that.
var releaseChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, isRelease := e.ObjectOld.(*helmrelease.HelmRelease)
		after, _ := e.ObjectNew.(*helmrelease.HelmRelease)
		return isRelease && (before.State() != after.State() ||
			before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
			!equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.Annotations, after.Annotations))
	},
}

// applicationsIndex finds Kustomizations by an application in their inventory.
const applicationsIndex = "status.inventory.applications"

func indexApplications(obj client.Object) []string {
	kustomization, ok := obj.(*kustomizev1.Kustomization)
	if !ok || !isStamped(kustomization) {
		return nil
	}
	var keys []string
	for application := range pruneguard.Applications(kustomization) {
		keys = append(keys, application.String())
	}
	return keys
}

// tenantsOfRelease leads from a HelmRelease to the TenantGitOps whose sources have applied
// its application: the one beside it, or one of an ancestor.
func (r *Reconciler) tenantsOfRelease(ctx context.Context, obj client.Object) []reconcile.Request {
	release, isRelease := obj.(*helmrelease.HelmRelease)
	if !isRelease {
		return nil
	}
	application, ok := release.Application()
	if !ok {
		return nil
	}
	var owners kustomizev1.KustomizationList
	// Only their namespaces are read.
	if err := r.Client.List(ctx, &owners, client.MatchingFields{applicationsIndex: application.String()}, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot find the sources of an application", "application", application.String())
		return nil
	}
	var requests []reconcile.Request
	for i := range owners.Items {
		requests = append(requests, tenant(owners.Items[i].Namespace))
	}
	return requests
}
