// Package packages is what the operator knows of the platform's Packages: which components
// one has, with which values, and where their HelmReleases are. The platform's own operator
// makes a HelmRelease of each component that is installed; nothing here writes a Package, a
// PackageSource or the spec of a HelmRelease.
package packages

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// GroupVersion is that of the kinds that are read.
var GroupVersion = schema.GroupVersion{Group: "cozystack.io", Version: "v1alpha1"}

const (
	// PackageLabel is the label on a HelmRelease that names its Package. Nobody else may put it
	// on one: the platform's operator deletes what bears it and is in no Package.
	PackageLabel = "cozystack.io/package"
	// defaultVariant is that of a Package that names none.
	defaultVariant = "default"
)

// Package is what is read of a Package: a variant of the PackageSource of its name, and the
// values of its components.
type Package struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   PackageSpec   `json:"spec,omitempty"`
	Status PackageStatus `json:"status,omitempty"`
}

// PackageSpec is what is asked for.
type PackageSpec struct {
	Variant    string                      `json:"variant,omitempty"`
	Components map[string]PackageComponent `json:"components,omitempty"`
}

// PackageComponent is what is asked for of one component.
type PackageComponent struct {
	// Enabled is no only if it says so.
	Enabled *bool `json:"enabled,omitempty"`
	// Values are copied into the HelmRelease as they are.
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// PackageStatus holds the platform's conditions, and one of ours among them.
type PackageStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PackageSource is what is read of a PackageSource: the components of each variant.
type PackageSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PackageSourceSpec `json:"spec,omitempty"`
}

// PackageSourceSpec lists the variants.
type PackageSourceSpec struct {
	Variants []Variant `json:"variants,omitempty"`
}

// Variant is one way to install a Package.
type Variant struct {
	Name       string      `json:"name"`
	Components []Component `json:"components,omitempty"`
}

// Component is one chart of a variant.
type Component struct {
	Name string `json:"name"`
	// Install is nil for a chart that has no release.
	Install *Install `json:"install,omitempty"`
}

// Install says where the release of a component is.
type Install struct {
	Namespace string `json:"namespace,omitempty"`
	// ReleaseName is the component's name by default.
	ReleaseName string `json:"releaseName,omitempty"`
}

// Components are those that a Package has by its source; found is false where the source
// does not have the Package's variant.
func Components(pkg *Package, source *PackageSource) (components []Component, found bool) {
	name := pkg.Spec.Variant
	if name == "" {
		name = defaultVariant
	}
	at := slices.IndexFunc(source.Spec.Variants, func(v Variant) bool { return v.Name == name })
	if at < 0 {
		return nil, false
	}
	return source.Spec.Variants[at].Components, true
}

// ReleaseOf is where the HelmRelease of a component is; installed is false where it has none.
func ReleaseOf(pkg *Package, component Component) (release types.NamespacedName, installed bool) {
	if enabled := pkg.Spec.Components[component.Name].Enabled; component.Install == nil || enabled != nil && !*enabled {
		return types.NamespacedName{}, false
	}
	release = types.NamespacedName{Namespace: component.Install.Namespace, Name: component.Install.ReleaseName}
	if release.Name == "" {
		release.Name = component.Name
	}
	return release, true
}

// ComponentOf is the component that a HelmRelease is of.
func ComponentOf(pkg *Package, source *PackageSource, release types.NamespacedName) (component Component, found bool) {
	components, _ := Components(pkg, source)
	for _, component := range components {
		if its, installed := ReleaseOf(pkg, component); installed && its == release {
			return component, true
		}
	}
	return Component{}, false
}

// ValuesOf are the values that the Package has for a component, as they are written there;
// nil where it has none.
func ValuesOf(pkg *Package, component string) []byte {
	if values := pkg.Spec.Components[component].Values; values != nil {
		return values.Raw
	}
	return nil
}

// PackageList is a list of Packages.
type PackageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Package `json:"items"`
}

// PackageSourceList is a list of PackageSources.
type PackageSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PackageSource `json:"items"`
}

// AddToScheme lets a client read Packages and PackageSources as these types. An update
// through them would take fields away: they are for reading, and for patches.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Package{}, &PackageList{}, &PackageSource{}, &PackageSourceList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// SetValues puts values into a copy of a Package, for those who ask what would be.
func (p *Package) SetValues(component string, values []byte) {
	if p.Spec.Components == nil {
		p.Spec.Components = map[string]PackageComponent{}
	}
	its := p.Spec.Components[component]
	its.Values = nil
	if len(values) > 0 {
		its.Values = &apiextensionsv1.JSON{Raw: values}
	}
	p.Spec.Components[component] = its
}
