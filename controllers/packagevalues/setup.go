package packagevalues

import (
	"fmt"

	"github.com/fluxcd/pkg/runtime/predicates"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
)

// SetupWithManager adds the reconciler to a manager.
func SetupWithManager(mgr ctrl.Manager, config Config) error {
	scheme, err := platformScheme()
	if err != nil {
		return fmt.Errorf("cannot make a scheme of Packages: %w", err)
	}
	platform, err := newPlatformWatch(mgr, scheme)
	if err != nil {
		return err
	}
	releases, err := client.New(mgr.GetConfig(), client.Options{HTTPClient: mgr.GetHTTPClient(), Scheme: scheme, Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return fmt.Errorf("cannot make a client of HelmReleases: %w", err)
	}
	left := &leftovers{reader: mgr.GetAPIReader(), found: make(chan event.GenericEvent)}
	if err := mgr.Add(left); err != nil {
		return fmt.Errorf("cannot add the search for what is left overridden: %w", err)
	}
	r := &Reconciler{Client: mgr.GetClient(), Releases: releases, Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder(fieldManager), Config: config, platform: platform}
	platform.controller, err = ctrl.NewControllerManagedBy(mgr).
		For(&cozyv1.PackageValues{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicates.ReconcileRequestedPredicate{}))).
		WatchesRawSource(source.Channel(left.found, &handler.EnqueueRequestForObject{})).
		Named("packagevalues").
		Build(r)
	if err != nil {
		return fmt.Errorf("cannot set the PackageValues controller up: %w", err)
	}
	return nil
}
