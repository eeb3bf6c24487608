package check

import "github.com/cozystack/gitops-operator/internal/packages"

const (
	// bootstrapPackage is created by hand, and nobody else writes its spec.
	bootstrapPackage = "cozystack.cozystack-platform"
	// ssaAnnotation tells kustomize-controller how to apply an object.
	ssaAnnotation = "kustomize.toolkit.fluxcd.io/ssa"
	ssaMerge      = "Merge"
)

// platformPackage says of a Package how it is to be in a repository, if it is to be there.
func platformPackage(d document) []Finding {
	if d.group() != packages.GroupVersion.Group || d.object.GetKind() != "Package" {
		return nil
	}
	if d.object.GetName() != bootstrapPackage {
		return []Finding{d.at([]string{"metadata", "name"}, Warning, RulePackage,
			"the platform's chart renders Package %s, and Helm and Flux would write it in turns; override values with a PackageValues of that name", d.object.GetName())}
	}
	if d.object.GetAnnotations()[ssaAnnotation] != ssaMerge {
		return []Finding{d.at([]string{"metadata", "annotations"}, Warning, RulePackage,
			"Flux would take out what was once set with kubectl and is not in this file; write the annotation %s: %s", ssaAnnotation, ssaMerge)}
	}
	return nil
}
