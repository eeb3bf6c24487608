// Package helmrelease is what the operator knows of HelmReleases: which application one
// stands for, and whether that is ready. The platform makes a HelmRelease of every
// application; nothing here writes one.
package helmrelease

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the HelmReleases that are read.
var GroupVersion = schema.GroupVersion{Group: "helm.toolkit.fluxcd.io", Version: "v2"}

// HelmRelease is what is read of a HelmRelease. It has no spec, and must never get one:
// spec.values hold what tenants and the platform wrote there, passwords among it, and what
// has no field here is dropped while it is decoded, before any cache, log or dump of the
// operator's memory can hold it.
type HelmRelease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status Status `json:"status,omitempty"`
}

// Status is what is read of a HelmRelease's status. Its history is left out: it names
// charts and digests, and is not needed.
type Status struct {
	// ObservedGeneration is the last generation that helm-controller is done with.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are helm-controller's.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// HelmReleaseList is a list of HelmReleases.
//
//nolint:revive // The scheme goes by the type's name for the kind.
type HelmReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []HelmRelease `json:"items"`
}

// AddToScheme lets a client read HelmReleases as these types. An update through them would
// take the spec away: they are for reading, and for patches of metadata.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &HelmRelease{}, &HelmReleaseList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// DeepCopyInto copies a HelmRelease.
func (r *HelmRelease) DeepCopyInto(out *HelmRelease) {
	*out = *r
	r.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if r.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(r.Status.Conditions))
		for i := range r.Status.Conditions {
			r.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
}

// DeepCopy returns a copy of a HelmRelease.
func (r *HelmRelease) DeepCopy() *HelmRelease {
	if r == nil {
		return nil
	}
	out := &HelmRelease{}
	r.DeepCopyInto(out)
	return out
}

// DeepCopyObject returns a copy of a HelmRelease.
func (r *HelmRelease) DeepCopyObject() runtime.Object { return r.DeepCopy() }

// DeepCopyObject returns a copy of a list.
func (l *HelmReleaseList) DeepCopyObject() runtime.Object {
	out := &HelmReleaseList{TypeMeta: l.TypeMeta}
	l.ListMeta.DeepCopyInto(&out.ListMeta) //nolint:staticcheck // QF1008: without its name it would read as a copy of the list.
	if l.Items != nil {
		out.Items = make([]HelmRelease, len(l.Items))
		for i := range l.Items {
			l.Items[i].DeepCopyInto(&out.Items[i])
		}
	}
	return out
}
