package packagevalues

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// firstListTimeout bounds the wait for the first lists.
const firstListTimeout = 10 * time.Second

// platformWatch watches the platform's Packages, PackageSources and HelmReleases, from the
// time that there is a PackageValues: the manager's own cache would refuse to start where
// they are not served, and without one there is nothing to read them for.
type platformWatch struct {
	// cache holds Packages and PackageSources, and releases their HelmReleases. It is another
	// one: settings of one kind within a cache need that kind to be served from the start.
	cache, releases cache.Cache

	mu         sync.Mutex
	controller controller.Controller
	watched    bool
	late       bool
}

// platformScheme knows HelmReleases with what is read of their spec, which the manager's
// scheme has not.
func platformScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := packages.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, packages.AddReleasesToScheme(scheme)
}

func newPlatformWatch(mgr ctrl.Manager, scheme *runtime.Scheme) (*platformWatch, error) {
	ofPackages, err := labels.NewRequirement(packages.PackageLabel, selection.Exists, nil)
	if err != nil {
		return nil, err
	}
	options := cache.Options{
		HTTPClient:                  mgr.GetHTTPClient(),
		Scheme:                      scheme,
		Mapper:                      mgr.GetRESTMapper(),
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
	}
	w := &platformWatch{}
	if w.cache, err = newPlatformCache(mgr, options); err != nil {
		return nil, err
	}
	options.DefaultLabelSelector = labels.NewSelector().Add(*ofPackages)
	options.DefaultTransform = packages.Strip
	w.releases, err = newPlatformCache(mgr, options)
	return w, err
}

func newPlatformCache(mgr ctrl.Manager, options cache.Options) (cache.Cache, error) {
	made, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache of Packages: %w", err)
	}
	if err := mgr.Add(platformCache{made}); err != nil {
		return nil, fmt.Errorf("cannot add the cache of Packages: %w", err)
	}
	return made, nil
}

// of is the cache that holds a kind.
func (w *platformWatch) of(object client.Object) cache.Cache {
	if _, isRelease := object.(*packages.Release); isRelease {
		return w.releases
	}
	return w.cache
}

// platformCache runs in every replica: it is idle until the leader asks it.
type platformCache struct{ cache.Cache }

// NeedLeaderElection says no.
func (platformCache) NeedLeaderElection() bool { return false }

// watchedKind is a kind that is watched.
type watchedKind struct {
	object client.Object
	// plural is what people call it.
	plural string
	// toValues leads from an object to the PackageValues that it is about.
	toValues handler.MapFunc
}

// watchedKinds are always in the same order: the first that cannot be watched is told of, and
// what is told is not to change from one look to the next.
func watchedKinds() []watchedKind {
	byName := func(_ context.Context, obj client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: obj.GetName()}}}
	}
	byLabel := func(_ context.Context, obj client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: obj.GetLabels()[packages.PackageLabel]}}}
	}
	return []watchedKind{
		{&packages.Package{}, "Packages", byName},
		{&packages.PackageSource{}, "PackageSources", byName},
		{&packages.Release{}, "HelmReleases", byLabel},
	}
}

// ensure starts the watches, and waits until the cache holds what there is. The error is, by
// apimeta.IsNoMatchError, to be told from others where one of the kinds is not served.
func (w *platformWatch) ensure(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	synced := true
	for _, kind := range watchedKinds() {
		informer, err := w.of(kind.object).GetInformer(ctx, kind.object, cache.BlockUntilSynced(false))
		if apimeta.IsNoMatchError(err) {
			return fmt.Errorf("%s are not served here (%w): PackageValues need a Cozystack platform, whose operator brings these kinds; "+
				"install it, or delete this PackageValues; it is looked for again every %s", kind.plural, err, retryInterval)
		}
		if err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind.plural, err)
		}
		synced = synced && informer.HasSynced()
	}
	if !synced {
		if w.late {
			return errUnlisted
		}
		waiting, cancel := context.WithTimeout(ctx, firstListTimeout)
		defer cancel()
		if !w.cache.WaitForCacheSync(waiting) || !w.releases.WaitForCacheSync(waiting) {
			// Once: otherwise every pass would take that long.
			w.late = ctx.Err() == nil
			return errUnlisted
		}
	}
	if w.watched || w.controller == nil {
		return nil
	}
	for _, kind := range watchedKinds() {
		if err := w.controller.Watch(source.Kind(w.of(kind.object), kind.object, handler.EnqueueRequestsFromMapFunc(kind.toValues))); err != nil {
			return fmt.Errorf("cannot watch %s: %w", kind.plural, err)
		}
	}
	w.watched = true
	return nil
}

var errUnlisted = errors.New("cannot list Packages, PackageSources and HelmReleases in time: the operator may lack the right to, compare its roles with config/rbac")
