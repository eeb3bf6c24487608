package override

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/merge"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Snapshot is what an answer is made of. Each may be nil, where it does not exist.
type Snapshot struct {
	Package *packages.Package
	Source  *packages.PackageSource
	Values  *cozyv1.PackageValues
}

// Stance is what is to become of a HelmRelease.
type Stance int

const (
	// Unknown is a release that is of no component of the Package, as far as can be seen. It is
	// left as it is.
	Unknown Stance = iota
	// Plain is one that is not overridden: it gets the Package's values, byte by byte.
	Plain
	// Overridden is one that gets the merged values, and bears the label.
	Overridden
	// Frozen is one whose override is suspended: its values stay as they are.
	Frozen
)

// Answer is what becomes of one HelmRelease.
type Answer struct {
	Stance Stance
	// Values that it is to have, where it is Plain or Overridden; nil for none.
	Values []byte
}

// ForRelease answers for one HelmRelease. It never looks at the values that the release has,
// or is about to get: for the same Package and PackageValues they are always the same bytes.
// An error says that the two cannot be laid over each other.
func (s Snapshot) ForRelease(release types.NamespacedName) (Answer, error) {
	if s.Package == nil || s.Source == nil {
		return Answer{}, nil
	}
	component, found := packages.ComponentOf(s.Package, s.Source, release)
	if !found {
		return Answer{}, nil
	}
	values := packages.ValuesOf(s.Package, component.Name)
	// One that is deleted is so at once, whoever's finalizer still holds it.
	if s.Values == nil || !s.Values.DeletionTimestamp.IsZero() {
		return Answer{Stance: Plain, Values: values}, nil
	}
	_, overrides := s.Values.Spec.Components[component.Name]
	switch {
	case !overrides:
		return Answer{Stance: Plain, Values: values}, nil
	case s.Values.Spec.Suspend:
		return Answer{Stance: Frozen}, nil
	}
	merged, err := s.merge(component.Name)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Stance: Overridden, Values: merged.Values}, nil
}

// merge lays the override of a component over the Package's values.
func (s Snapshot) merge(component string) (merge.Result, error) {
	override, err := Of(s.Values.Spec.Components[component])
	if err != nil {
		return merge.Result{}, fmt.Errorf("component %s of PackageValues %s: %w", component, s.Values.Name, err)
	}
	result, err := merge.Merge(packages.ValuesOf(s.Package, component), override)
	if err != nil {
		return merge.Result{}, fmt.Errorf("component %s of Package %s: %w", component, s.Package.Name, err)
	}
	return result, nil
}
