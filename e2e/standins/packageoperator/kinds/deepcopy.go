package kinds

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject copies the Package.
func (p *Package) DeepCopyObject() runtime.Object {
	copied := *p
	p.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.IgnoreDependencies = slices.Clone(p.Spec.IgnoreDependencies)
	copied.Spec.Components = maps.Clone(p.Spec.Components)
	for name, component := range copied.Spec.Components {
		if component.Enabled != nil {
			component.Enabled = new(*component.Enabled)
		}
		component.Values = component.Values.DeepCopy()
		copied.Spec.Components[name] = component
	}
	// A condition has no pointers.
	copied.Status.Conditions = slices.Clone(p.Status.Conditions)
	copied.Status.Dependencies = maps.Clone(p.Status.Dependencies)
	return &copied
}

// DeepCopyObject copies the PackageSource.
func (s *PackageSource) DeepCopyObject() runtime.Object {
	copied := *s
	s.DeepCopyInto(&copied.ObjectMeta)
	copied.Spec.Variants = slices.Clone(s.Spec.Variants)
	for i := range copied.Spec.Variants {
		variant := &copied.Spec.Variants[i]
		variant.DependsOn = slices.Clone(variant.DependsOn)
		variant.Components = slices.Clone(variant.Components)
		for j := range variant.Components {
			component := &variant.Components[j]
			component.ValuesFiles = slices.Clone(component.ValuesFiles)
			if component.Install != nil {
				component.Install = new(*component.Install)
				component.Install.DependsOn = slices.Clone(component.Install.DependsOn)
			}
		}
	}
	return &copied
}

// DeepCopyObject copies the HelmRelease.
func (r *HelmRelease) DeepCopyObject() runtime.Object {
	copied := *r
	r.DeepCopyInto(&copied.ObjectMeta)
	spec := &copied.Spec
	if spec.MaxHistory != nil {
		spec.MaxHistory = new(*spec.MaxHistory)
	}
	if spec.ChartRef != nil {
		spec.ChartRef = new(*spec.ChartRef)
	}
	spec.DependsOn = slices.Clone(spec.DependsOn)
	for _, action := range []**Action{&spec.Install, &spec.Upgrade} {
		if *action != nil {
			*action = new(**action)
		}
	}
	spec.ValuesFrom = slices.Clone(spec.ValuesFrom)
	spec.Values = spec.Values.DeepCopy()
	return &copied
}

// DeepCopyObject copies the list.
func (l *PackageList) DeepCopyObject() runtime.Object {
	return &PackageList{TypeMeta: l.TypeMeta, ListMeta: copyMeta(l.ListMeta), Items: copyItems[Package](l.Items)}
}

// DeepCopyObject copies the list.
func (l *PackageSourceList) DeepCopyObject() runtime.Object {
	return &PackageSourceList{TypeMeta: l.TypeMeta, ListMeta: copyMeta(l.ListMeta), Items: copyItems[PackageSource](l.Items)}
}

// DeepCopyObject copies the list.
func (l *HelmReleaseList) DeepCopyObject() runtime.Object {
	return &HelmReleaseList{TypeMeta: l.TypeMeta, ListMeta: copyMeta(l.ListMeta), Items: copyItems[HelmRelease](l.Items)}
}

func copyMeta(meta metav1.ListMeta) metav1.ListMeta { return *meta.DeepCopy() }

// copyItems copies the objects of a list.
func copyItems[T any, P interface {
	*T
	runtime.Object
}](items []T) []T {
	if items == nil {
		return nil
	}
	copied := make([]T, len(items))
	for i := range items {
		// What copies an object returns one of its own type.
		copied[i] = *P(&items[i]).DeepCopyObject().(P)
	}
	return copied
}
