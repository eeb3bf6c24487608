package kinds

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SkipValuesAnnotation keeps, with the value "true", the platform's values from all
// releases of a source.
const SkipValuesAnnotation = "operator.cozystack.io/skip-cozystack-values"

// PackageSource says what the Package of its name consists of.
type PackageSource struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PackageSourceSpec `json:"spec,omitempty"`
}

// PackageSourceSpec lists the variants.
type PackageSourceSpec struct {
	Variants []Variant `json:"variants,omitempty"`
}

// Variant is one way to install a package.
type Variant struct {
	Name string `json:"name"`
	// DependsOn are Packages that must be ready before.
	DependsOn  []string    `json:"dependsOn,omitempty"`
	Components []Component `json:"components,omitempty"`
}

// Component is one chart of a variant.
type Component struct {
	Name string `json:"name"`
	// ValuesFiles are files of the chart.
	ValuesFiles []string `json:"valuesFiles,omitempty"`
	// Install is nil for a chart that has no release.
	Install *Install `json:"install,omitempty"`
}

// Install says where the release of a component is.
type Install struct {
	Namespace string `json:"namespace,omitempty"`
	// ReleaseName is the component's name by default.
	ReleaseName string `json:"releaseName,omitempty"`
	Privileged  bool   `json:"privileged,omitempty"`
	// DependsOn are components of the same variant.
	DependsOn []string `json:"dependsOn,omitempty"`
}

// PackageSourceList is a list of PackageSources.
type PackageSourceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []PackageSource `json:"items"`
}

// Variant finds a variant by its name; nil is none.
func (s *PackageSource) Variant(name string) *Variant {
	for i := range s.Spec.Variants {
		if s.Spec.Variants[i].Name == name {
			return &s.Spec.Variants[i]
		}
	}
	return nil
}

// Component finds a component by its name; nil is none.
func (v *Variant) Component(name string) *Component {
	for i := range v.Components {
		if v.Components[i].Name == name {
			return &v.Components[i]
		}
	}
	return nil
}

// ReleaseName is the name of the component's release, which must have one.
func (c *Component) ReleaseName() string {
	if c.Install.ReleaseName == "" {
		return c.Name
	}
	return c.Install.ReleaseName
}
