package packages

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// noteDependencies puts into the status how the Packages fare that a variant depends on,
// and only them, and tells whether all are ready. One that cannot be read fares as before.
func (r *Reconciler) noteDependencies(ctx context.Context, pkg *kinds.Package, variant *kinds.Variant) (ready bool) {
	ready = true
	dependencies := map[string]kinds.Dependency{}
	for _, name := range pkg.WaitsFor(variant) {
		dependency := &kinds.Package{}
		err := r.Client.Get(ctx, client.ObjectKey{Name: name}, dependency)
		switch {
		case err == nil:
			dependencies[name] = kinds.Dependency{Ready: isReady(dependency)}
		case apierrors.IsNotFound(err):
			dependencies[name] = kinds.Dependency{}
		default:
			dependencies[name] = pkg.Status.Dependencies[name]
		}
		ready = ready && dependencies[name].Ready
	}
	pkg.Status.Dependencies = dependencies
	return ready
}

func isReady(pkg *kinds.Package) bool {
	return apimeta.IsStatusConditionTrue(pkg.Status.Conditions, "Ready")
}

// dependsOn are the releases that the component's waits for: those of the components it
// names, and all of the Packages that the variant depends on.
func (r *Reconciler) dependsOn(ctx context.Context, pkg *kinds.Package, variant *kinds.Variant, component *kinds.Component) ([]kinds.ReleaseReference, error) {
	var references []kinds.ReleaseReference
	for _, name := range component.Install.DependsOn {
		other := variant.Component(name)
		if other == nil || other.Install == nil {
			return nil, fmt.Errorf("there is no component %s that is installed", name)
		}
		references = append(references, reference(other))
	}
	for _, name := range pkg.WaitsFor(variant) {
		dependency, theirs, err := r.variantOf(ctx, name)
		if err != nil {
			return nil, err
		}
		for i := range theirs.Components {
			if dependency.Installs(&theirs.Components[i]) {
				references = append(references, reference(&theirs.Components[i]))
			}
		}
	}
	return references, nil
}

func reference(component *kinds.Component) kinds.ReleaseReference {
	return kinds.ReleaseReference{Namespace: component.Install.Namespace, Name: component.ReleaseName()}
}

// variantOf finds a Package and the variant it asks for.
func (r *Reconciler) variantOf(ctx context.Context, name string) (*kinds.Package, *kinds.Variant, error) {
	pkg, source := &kinds.Package{}, &kinds.PackageSource{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, pkg); err != nil {
		return nil, nil, fmt.Errorf("read Package %s: %w", name, err)
	}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, source); err != nil {
		return nil, nil, fmt.Errorf("read PackageSource %s: %w", name, err)
	}
	variant := source.Variant(pkg.Variant())
	if variant == nil {
		return nil, nil, fmt.Errorf("find variant %s of PackageSource %s: there is none", pkg.Variant(), name)
	}
	return pkg, variant, nil
}

// dependents are the names of the Packages that wait for one.
func (r *Reconciler) dependents(ctx context.Context, name string) ([]string, error) {
	all := &kinds.PackageList{}
	if err := r.Client.List(ctx, all); err != nil {
		return nil, fmt.Errorf("list Packages: %w", err)
	}
	var names []string
	for i := range all.Items {
		pkg, variant, err := r.variantOf(ctx, all.Items[i].Name)
		if err == nil && pkg.Name != name && slices.Contains(pkg.WaitsFor(variant), name) {
			names = append(names, pkg.Name)
		}
	}
	return names, nil
}

// tellDependents puts into the status of the Packages that wait for this one whether it
// is ready, as far as the cache knows that by now.
func (r *Reconciler) tellDependents(ctx context.Context, name string) error {
	names, err := r.dependents(ctx, name)
	if err != nil {
		return err
	}
	pkg := &kinds.Package{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, pkg); err != nil {
		return client.IgnoreNotFound(err)
	}
	var failures []error
	for _, dependent := range names {
		failures = append(failures, r.tell(ctx, dependent, name, isReady(pkg)))
	}
	return errors.Join(failures...)
}

func (r *Reconciler) tell(ctx context.Context, dependent, name string, ready bool) error {
	pkg := &kinds.Package{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: dependent}, pkg); err != nil {
		return fmt.Errorf("read Package %s: %w", dependent, err)
	}
	if pkg.Status.Dependencies == nil {
		pkg.Status.Dependencies = map[string]kinds.Dependency{}
	}
	pkg.Status.Dependencies[name] = kinds.Dependency{Ready: ready}
	if err := r.Client.UpdateStatus(ctx, pkg); err != nil {
		return fmt.Errorf("write the status of Package %s: %w", dependent, err)
	}
	return nil
}
