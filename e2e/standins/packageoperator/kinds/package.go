package kinds

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultVariant is the variant of a Package that names none.
const DefaultVariant = "default"

// Package asks for the releases of a variant of the PackageSource of its name.
type Package struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PackageSpec   `json:"spec,omitempty"`
	Status PackageStatus `json:"status,omitempty"`
}

// PackageSpec is what is asked for.
type PackageSpec struct {
	// Variant is the name of one of the source's; none is DefaultVariant.
	Variant string `json:"variant,omitempty"`
	// IgnoreDependencies are the Packages that are not waited for.
	IgnoreDependencies []string `json:"ignoreDependencies,omitempty"`
	// Components are the source's that are to be other than by default, by name.
	Components map[string]PackageComponent `json:"components,omitempty"`
}

// PackageComponent is what is asked for of one component.
type PackageComponent struct {
	// Enabled is no only if it says so.
	Enabled *bool `json:"enabled,omitempty"`
	// Values are those of its release.
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// PackageStatus is what the operator says.
type PackageStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Dependencies are the Packages that are waited for, by name.
	Dependencies map[string]Dependency `json:"dependencies,omitempty"`
}

// Dependency is how a Package that is waited for fares.
type Dependency struct {
	Ready bool `json:"ready"`
}

// PackageList is a list of Packages.
type PackageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Package `json:"items"`
}

// Variant is the name of the variant that is asked for.
func (p *Package) Variant() string {
	if p.Spec.Variant == "" {
		return DefaultVariant
	}
	return p.Spec.Variant
}

// Installs tells whether a component has a release.
func (p *Package) Installs(component *Component) bool {
	enabled := p.Spec.Components[component.Name].Enabled
	return component.Install != nil && (enabled == nil || *enabled)
}

// WaitsFor are the Packages that those of a variant depend on, but for the ignored ones.
func (p *Package) WaitsFor(variant *Variant) []string {
	var names []string
	for _, name := range variant.DependsOn {
		if !slices.Contains(p.Spec.IgnoreDependencies, name) {
			names = append(names, name)
		}
	}
	return names
}
