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
	cache cache.Cache

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
	platform, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:                  mgr.GetHTTPClient(),
		Scheme:                      scheme,
		Mapper:                      mgr.GetRESTMapper(),
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&packages.Release{}: {Label: labels.NewSelector().Add(*ofPackages), Transform: packages.Strip},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache of Packages: %w", err)
	}
	if err := mgr.Add(platformCache{platform}); err != nil {
		return nil, fmt.Errorf("cannot add the cache of Packages: %w", err)
	}
	return &platformWatch{cache: platform}, nil
}

// platformCache runs in every replica: it is idle until the leader asks it.
type platformCache struct{ cache.Cache }

// NeedLeaderElection says no.
func (platformCache) NeedLeaderElection() bool { return false }

// watchedKinds leads from each kind that is watched to the PackageValues it is about.
func watchedKinds() map[client.Object]handler.MapFunc {
	byName := func(_ context.Context, obj client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: obj.GetName()}}}
	}
	byLabel := func(_ context.Context, obj client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: obj.GetLabels()[packages.PackageLabel]}}}
	}
	return map[client.Object]handler.MapFunc{&packages.Package{}: byName, &packages.PackageSource{}: byName, &packages.Release{}: byLabel}
}

// ensure starts the watches, and waits until the cache holds what there is.
func (w *platformWatch) ensure(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	synced := true
	for object := range watchedKinds() {
		informer, err := w.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if apimeta.IsNoMatchError(err) {
			return fmt.Errorf("Packages are not served here: PackageValues need a Cozystack platform: %w", err) //nolint:staticcheck // ST1005: it begins with a kind.
		}
		if err != nil {
			return fmt.Errorf("cannot watch %T: %w", object, err)
		}
		synced = synced && informer.HasSynced()
	}
	if !synced {
		if w.late {
			return errUnlisted
		}
		waiting, cancel := context.WithTimeout(ctx, firstListTimeout)
		defer cancel()
		if !w.cache.WaitForCacheSync(waiting) {
			// Once: otherwise every pass would take that long.
			w.late = ctx.Err() == nil
			return errUnlisted
		}
	}
	if w.watched || w.controller == nil {
		return nil
	}
	for object, toValues := range watchedKinds() {
		if err := w.controller.Watch(source.Kind(w.cache, object, handler.EnqueueRequestsFromMapFunc(toValues))); err != nil {
			return fmt.Errorf("cannot watch %T: %w", object, err)
		}
	}
	w.watched = true
	return nil
}

var errUnlisted = errors.New("cannot list Packages, PackageSources and HelmReleases in time: the operator may lack the right to, compare its roles with config/rbac")
