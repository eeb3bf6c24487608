// Package override decides what a PackageValues makes of the HelmReleases of its Package. But
// for Read it is pure: the webhook, the reconciler and the offline check ask it the same.
package override

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/merge"
)

// Of reads what a PackageValues says of one component. Errors say what to write instead.
func Of(component cozyv1.ComponentValues) (merge.Override, error) {
	var override merge.Override
	var errs []error
	if component.Values != nil {
		override.Values = component.Values.Raw
	}
	for i, text := range component.Unset {
		path, err := merge.ParsePath(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("unset[%d]: %w", i, err))
			continue
		}
		override.Unset = append(override.Unset, path)
	}
	for i, rule := range component.ListMerge {
		path, err := merge.ParsePath(rule.Path)
		if err != nil {
			errs = append(errs, fmt.Errorf("listMerge[%d].path: %w", i, err))
			continue
		}
		override.Lists = append(override.Lists, merge.ListRule{Path: path, Strategy: merge.Strategy(rule.Strategy), Key: rule.Key})
	}
	if err := errors.Join(errs...); err != nil {
		return merge.Override{}, err
	}
	return override, override.Validate()
}

// Validate returns all that is wrong with a PackageValues, whatever its Package holds.
func Validate(spec cozyv1.PackageValuesSpec) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(spec.Components)) {
		if _, err := Of(spec.Components[name]); err != nil {
			errs = append(errs, fmt.Errorf("spec.components.%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
