package check

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/merge"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Effect is what a tree changes about the values of one HelmRelease.
type Effect struct {
	Package   string `json:"package"`
	Component string `json:"component"`
	// Release is namespace/name; empty where the component has none.
	Release string `json:"release,omitempty"`
	// Before and After are the values that Helm is given.
	Before any `json:"before"`
	After  any `json:"after"`
	// Changes are the differences between the two; lists are compared as a whole.
	Changes []Change `json:"changes"`
}

// Effects says what a tree would change about the HelmReleases of a cluster: by its
// PackageValues, and by the one Package that a repository may own. What is in the cluster and
// not in the tree stays as it is. Findings are what a check finds; where one is an error
// nothing is compared.
func Effects(options Options) ([]Effect, Report, error) {
	report, err := Run(options)
	if err != nil || Count(report.Findings, Error) > 0 {
		return nil, report, err
	}
	tree, err := openTree(options.Dir, options.Root)
	if err != nil {
		return nil, report, err
	}
	defer tree.close()
	documents, err := tree.build()
	if err != nil {
		return nil, report, err
	}
	before, after := options.Export, NewExport()
	maps.Copy(after.Packages, before.Packages)
	maps.Copy(after.Sources, before.Sources)
	maps.Copy(after.Values, before.Values)
	for _, document := range documents {
		if err := after.apply(document); err != nil {
			return nil, report, err
		}
	}
	var effects []Effect
	for _, name := range slices.Sorted(maps.Keys(before.Packages)) {
		found, err := compare(before, after, name)
		if err != nil {
			return nil, report, err
		}
		effects = append(effects, found...)
	}
	return effects, report, nil
}

// apply lays a document of a tree over what the cluster has.
func (e *Export) apply(d document) error {
	if d.group() != packages.GroupVersion.Group {
		return nil
	}
	name := d.object.GetName()
	switch d.object.GetKind() {
	case cozyv1.PackageValuesKind:
		values := &cozyv1.PackageValues{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.object.Object, values); err != nil {
			return fmt.Errorf("cannot read PackageValues %s: %w", name, err)
		}
		e.Values[name] = values
	case "Package":
		there, owned := e.Packages[name], &packages.Package{}
		if there == nil || name != bootstrapPackage {
			// What the platform's chart renders does not stay as a repository has it.
			return nil
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.object.Object, owned); err != nil {
			return fmt.Errorf("cannot read Package %s: %w", name, err)
		}
		applied := there.DeepCopyObject().(*packages.Package)
		e.Packages[name] = applied
		for _, component := range slices.Sorted(maps.Keys(owned.Spec.Components)) {
			// Applied, maps are merged and lists replaced, as in a PackageValues.
			result, err := merge.Merge(packages.ValuesOf(applied, component), merge.Override{Values: packages.ValuesOf(owned, component)})
			if err != nil {
				return fmt.Errorf("component %s of Package %s: %w", component, name, err)
			}
			applied.SetValues(component, result.Values)
		}
	}
	return nil
}

// compare finds what is other afterwards in the releases of one Package.
func compare(before, after *Export, name string) ([]Effect, error) {
	was := override.Snapshot{Package: before.Packages[name], Source: before.Sources[name], Values: before.Values[name]}
	is := override.Snapshot{Package: after.Packages[name], Source: after.Sources[name], Values: after.Values[name]}
	if was.Source == nil {
		return nil, nil
	}
	components, _ := packages.Components(was.Package, was.Source)
	var effects []Effect
	for _, component := range components {
		release, installed := packages.ReleaseOf(was.Package, component)
		if !installed {
			continue
		}
		effect := Effect{Package: name, Component: component.Name, Release: release.String()}
		frozen := false
		for _, side := range []struct {
			snapshot override.Snapshot
			values   *any
		}{{was, &effect.Before}, {is, &effect.After}} {
			answer, err := side.snapshot.ForRelease(release)
			if err != nil {
				return nil, err
			}
			// A release that is suspended keeps what it has, whatever that is.
			frozen = frozen || answer.Stance == override.Frozen
			if len(answer.Values) > 0 {
				if err := utiljson.Unmarshal(answer.Values, side.values); err != nil {
					return nil, fmt.Errorf("cannot read the values of %s: %w", release, err)
				}
			}
		}
		if effect.Changes = changes(nil, effect.Before, effect.After); len(effect.Changes) > 0 && !frozen {
			effects = append(effects, effect)
		}
	}
	return effects, nil
}
