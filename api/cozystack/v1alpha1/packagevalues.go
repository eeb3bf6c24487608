package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PackageValuesKind is the kind of a PackageValues.
const PackageValuesKind = "PackageValues"

// PackageValuesSpec overrides the values of a Package's components. The Package is the one of
// the same name, and is not changed: what is overridden is put into its HelmReleases when they
// are written.
type PackageValuesSpec struct {
	// Components are the components of the Package to override, by their names in its
	// PackageSource.
	//
	//	components:
	//	  grafana:
	//	    values:
	//	      replicas: 3
	//	    unset: [resources.limits.cpu]
	//
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$') && name.size() <= 253)",message="a component is called as in the Package's PackageSource: lower case letters, digits, - and ."
	Components map[string]ComponentValues `json:"components"`

	// Suspend freezes what the releases have: neither a change here nor one of the Package
	// reaches a release that is overridden. A release that is made anew meanwhile has the
	// Package's values.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// ComponentValues is what is laid over the values that the Package has for one component.
type ComponentValues struct {
	// Values are laid over the Package's. Maps merge deep, and lists replace. A null removes
	// a value, that of the chart's default too; since an update by kubectl apply swallows a
	// null, list the path in unset instead.
	//
	//	values:
	//	  replicas: 3
	//	  ingress: {host: grafana.example.org}
	//
	// +optional
	// +kubebuilder:validation:Type=object
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Values *apiextensionsv1.JSON `json:"values,omitempty"`

	// Unset are paths of values to remove, those of the chart's defaults too. Keys are joined by
	// dots; a dot or a backslash in a key is written \. and \\.
	//
	//	unset:
	//	- resources.limits.cpu
	//	- nodeSelector.kubernetes\.io/arch
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^([^.\\]|\\[.\\])+(\.([^.\\]|\\[.\\])+)*$`
	Unset []string `json:"unset,omitempty"`

	// ListMerge names lists that are not to replace the Package's.
	//
	//	listMerge:
	//	- {path: extraArgs, strategy: Append}
	//	- {path: extraEnv, strategy: MergeByKey, key: name}
	//
	// +optional
	// +listType=map
	// +listMapKey=path
	// +kubebuilder:validation:MaxItems=64
	ListMerge []ListMerge `json:"listMerge,omitempty"`
}

// ListMergeStrategy is how a list meets that of the Package.
// +kubebuilder:validation:Enum=Append;MergeByKey
type ListMergeStrategy string

const (
	// ListAppend puts the items after the Package's.
	ListAppend ListMergeStrategy = "Append"
	// ListMergeByKey merges each item into the Package's with the same value under the key, and
	// puts the others after them.
	ListMergeByKey ListMergeStrategy = "MergeByKey"
)

// ListMerge says how the lists at a path are merged.
// +kubebuilder:validation:XValidation:rule="(self.strategy == 'MergeByKey') == has(self.key)",message="key tells the items of a list apart: MergeByKey needs it, and Append must not have it"
type ListMerge struct {
	// Path of the list, as in unset.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^([^.\\]|\\[.\\])+(\.([^.\\]|\\[.\\])+)*$`
	Path string `json:"path"`
	// Strategy is Append or MergeByKey.
	// +required
	Strategy ListMergeStrategy `json:"strategy"`
	// Key tells the items apart, for MergeByKey: each is a map that has a string, a number or a
	// boolean there, for example name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// PackageValuesStatus says what has become of the override.
type PackageValuesStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// LastHandledReconcileAt is the value of the annotation
	// reconcile.fluxcd.io/requestedAt that was acted upon last.
	meta.ReconcileRequestStatus `json:",inline"`

	// Conditions are Ready, Reconciling and Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Releases says in how many HelmReleases the override is, of how many that it is for, and
	// that Helm has applied: 2/3.
	// +optional
	Releases string `json:"releases,omitempty"`

	// Overridden is how many values are overridden, in all components.
	// +optional
	Overridden int64 `json:"overridden"`

	// Components has an entry for each component of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Components []ComponentStatus `json:"components,omitempty"`
}

// ComponentStatus says what has become of the override of one component.
type ComponentStatus struct {
	// Name of the component.
	Name string `json:"name"`
	// Ready is True when Helm has applied the values, False when that failed or cannot come
	// to pass, and Unknown meanwhile.
	Ready metav1.ConditionStatus `json:"ready"`
	// Reason of that, in one word.
	Reason string `json:"reason"`
	// Message says it for people.
	// +optional
	Message string `json:"message,omitempty"`
	// Release is the HelmRelease that has the values, as namespace/name.
	// +optional
	Release string `json:"release,omitempty"`

	// Values are those that the release gets; left out where they are larger than 64 KiB, or
	// all components' together than 256 KiB.
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
	// Digest of the values, as sha256:<hex>.
	// +optional
	Digest string `json:"digest,omitempty"`

	// Overridden are the paths of the values that the override sets or removes, the first 100.
	// +optional
	// +listType=atomic
	Overridden []string `json:"overridden,omitempty"`
	// OverriddenCount is how many there are in all.
	// +optional
	OverriddenCount int64 `json:"overriddenCount,omitempty"`
	// Shadowed are those of them at which the Package has another value, the first 100.
	// +optional
	// +listType=atomic
	Shadowed []string `json:"shadowed,omitempty"`
	// ReplacedLists are lists of the Package that the override replaces as a whole, the first 50.
	// +optional
	// +listType=atomic
	ReplacedLists []ReplacedList `json:"replacedLists,omitempty"`
	// WithoutEffect are parts of the override that do nothing, and why; the first 50.
	// +optional
	// +listType=atomic
	WithoutEffect []string `json:"withoutEffect,omitempty"`
}

// ReplacedList is a list of the Package that another one replaces.
type ReplacedList struct {
	// Path of the list.
	Path string `json:"path"`
	// Before is how many items the Package's list has.
	Before int64 `json:"before"`
	// After is how many items the release gets.
	After int64 `json:"after"`
}

// PackageValues overrides values of the Package of the same name. It works with any tool that
// writes it: kubectl, Flux, or a person.
//
//	apiVersion: cozystack.io/v1alpha1
//	kind: PackageValues
//	metadata:
//	  name: cozystack.monitoring
//	spec:
//	  components:
//	    grafana:
//	      values: {replicas: 3}
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=packagevalues,singular=packagevalues,scope=Cluster,shortName=pkgvalues,categories=gitops
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Releases",type="string",JSONPath=".status.releases"
// +kubebuilder:printcolumn:name="Overridden",type="integer",JSONPath=".status.overridden"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type PackageValues struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec PackageValuesSpec `json:"spec"`
	// +optional
	Status PackageValuesStatus `json:"status,omitempty"`
}

// GetConditions returns the status conditions, for fluxcd/pkg/runtime.
func (p *PackageValues) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the status conditions, for fluxcd/pkg/runtime.
func (p *PackageValues) SetConditions(conditions []metav1.Condition) {
	p.Status.Conditions = conditions
}

// PackageValuesList is a list of PackageValues.
//
// +kubebuilder:object:root=true
type PackageValuesList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PackageValues `json:"items"`
}
