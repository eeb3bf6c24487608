package check

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/merge"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// packageValues says of a PackageValues what could not be laid over any Package, and, where
// the Packages are known, what would come of it.
func packageValues(d document, export *Export) []Finding {
	if d.group() != cozyv1.GroupVersion.Group || d.object.GetKind() != cozyv1.PackageValuesKind {
		return nil
	}
	values := &cozyv1.PackageValues{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.object.Object, values); err != nil {
		return []Finding{d.at(nil, Error, RuleValues, "it cannot be read: %s", err)}
	}
	if err := override.Validate(values.Spec); err != nil {
		var findings []Finding
		// One line for each thing that is wrong.
		for text := range strings.SplitSeq(err.Error(), "\n") {
			findings = append(findings, d.at([]string{"spec", "components"}, Error, RuleValues, "%s", text))
		}
		return findings
	}
	if export == nil {
		return replacingLists(d, values)
	}
	pkg, source := export.Packages[values.Name], export.Sources[values.Name]
	if pkg == nil {
		return []Finding{d.at([]string{"metadata", "name"}, Error, RuleNoPackage,
			"there is no Package %s: a PackageValues is for the Package of its own name; there are %s", values.Name, export.names())}
	}
	if source == nil {
		return []Finding{d.at([]string{"metadata", "name"}, Error, RuleNoPackage, "there is no PackageSource %s, so the components of the Package are not known", values.Name)}
	}
	return against(d, values, pkg, source)
}

// against compares with the Package that it is for.
func against(d document, values *cozyv1.PackageValues, pkg *packages.Package, source *packages.PackageSource) []Finding {
	components, _ := packages.Components(pkg, source)
	var known []string
	for _, component := range components {
		known = append(known, component.Name)
	}
	slices.Sort(known)
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(values.Spec.Components)) {
		field := []string{"spec", "components", name}
		if !slices.Contains(known, name) {
			findings = append(findings, d.at(field, Error, RuleNoComponent, "Package %s has no component %s; it has %s", pkg.Name, name, strings.Join(known, ", ")))
			continue
		}
		laid, err := override.Of(values.Spec.Components[name])
		var result merge.Result
		if err == nil {
			result, err = merge.Merge(packages.ValuesOf(pkg, name), laid)
		}
		if err != nil {
			findings = append(findings, d.at(field, Error, RuleValues, "component %s: %s", name, err))
			continue
		}
		for _, replaced := range result.Replaced {
			findings = append(findings, d.at(field, Warning, RuleList, "component %s: the list %s replaces the Package's, of %d items, with %d; a rule in listMerge adds to it instead",
				name, replaced.Path, replaced.Before, replaced.After))
		}
		for _, idle := range result.Idle {
			findings = append(findings, d.at(field, Warning, RuleNoEffect, "component %s: %s %s has no effect: %s", name, idle.Part, idle.Path, idle.Why))
		}
	}
	return findings
}

// replacingLists are those that would replace a list of the Package, should it have one.
func replacingLists(d document, values *cozyv1.PackageValues) []Finding {
	var findings []Finding
	for _, name := range slices.Sorted(maps.Keys(values.Spec.Components)) {
		laid, err := override.Of(values.Spec.Components[name])
		if err != nil {
			continue
		}
		ruled := map[string]bool{}
		for _, rule := range laid.Lists {
			ruled[rule.Path.String()] = true
		}
		// It was read as a map before.
		content, _, _ := unstructured.NestedFieldNoCopy(d.object.Object, "spec", "components", name, "values")
		for _, list := range listsIn(content, nil) {
			path := written(list)
			if ruled[path] {
				continue
			}
			findings = append(findings, d.at(append([]string{"spec", "components", name, "values"}, list...), Warning, RuleList,
				"component %s: the list %s replaces one that the Package may have there; a rule in listMerge adds to it instead", name, path))
		}
	}
	return findings
}

// written is a path as merge.ParsePath reads it.
func written(path []string) string {
	escape := strings.NewReplacer(`\`, `\\`, ".", `\.`)
	keys := make([]string, 0, len(path))
	for _, key := range path {
		keys = append(keys, escape.Replace(key))
	}
	return strings.Join(keys, ".")
}

// listsIn are the paths of the lists in maps.
func listsIn(content any, path []string) [][]string {
	switch content := content.(type) {
	case []any:
		return [][]string{path}
	case map[string]any:
		var found [][]string
		for _, key := range slices.Sorted(maps.Keys(content)) {
			found = append(found, listsIn(content[key], append(slices.Clone(path), key))...)
		}
		return found
	}
	return nil
}
