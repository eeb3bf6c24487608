package packages

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyObject copies a Package.
func (p *Package) DeepCopyObject() runtime.Object {
	out := &Package{TypeMeta: p.TypeMeta, ObjectMeta: *p.ObjectMeta.DeepCopy()} //nolint:staticcheck // QF1008: without its name it would read as a copy of the Package.
	out.Spec.Variant = p.Spec.Variant
	if p.Spec.Components != nil {
		out.Spec.Components = make(map[string]PackageComponent, len(p.Spec.Components))
		for name, component := range p.Spec.Components {
			copied := PackageComponent{Values: component.Values.DeepCopy()}
			if component.Enabled != nil {
				copied.Enabled = new(*component.Enabled)
			}
			out.Spec.Components[name] = copied
		}
	}
	out.Status.Conditions = slices.Clone(p.Status.Conditions)
	return out
}

// DeepCopyObject copies a PackageSource.
func (s *PackageSource) DeepCopyObject() runtime.Object {
	out := &PackageSource{TypeMeta: s.TypeMeta, ObjectMeta: *s.ObjectMeta.DeepCopy()} //nolint:staticcheck // QF1008, as above.
	out.Spec.Variants = slices.Clone(s.Spec.Variants)
	for i := range out.Spec.Variants {
		variant := &out.Spec.Variants[i]
		variant.Components = slices.Clone(variant.Components)
		for j := range variant.Components {
			if install := variant.Components[j].Install; install != nil {
				variant.Components[j].Install = new(*install)
			}
		}
	}
	return out
}

// DeepCopyObject copies a Release.
func (r *Release) DeepCopyObject() runtime.Object {
	out := &Release{TypeMeta: r.TypeMeta, ObjectMeta: *r.ObjectMeta.DeepCopy(), Digest: r.Digest} //nolint:staticcheck // QF1008, as above.
	out.Spec = ReleaseSpec{Suspend: r.Spec.Suspend, Values: r.Spec.Values.DeepCopy()}
	out.Status = r.Status
	out.Status.Conditions = slices.Clone(r.Status.Conditions)
	return out
}

// DeepCopyObject copies a list.
func (l *PackageList) DeepCopyObject() runtime.Object {
	return &PackageList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copied[Package](l.Items)} //nolint:staticcheck // QF1008, as above.
}

// DeepCopyObject copies a list.
func (l *PackageSourceList) DeepCopyObject() runtime.Object {
	return &PackageSourceList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copied[PackageSource](l.Items)} //nolint:staticcheck // QF1008, as above.
}

// DeepCopyObject copies a list.
func (l *ReleaseList) DeepCopyObject() runtime.Object {
	return &ReleaseList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy(), Items: copied[Release](l.Items)} //nolint:staticcheck // QF1008, as above.
}

// copied copies the objects of a list.
func copied[T any, P interface {
	*T
	runtime.Object
}](items []T) []T {
	if items == nil {
		return nil
	}
	out := make([]T, len(items))
	for i := range items {
		// What copies an object returns one of its own type.
		out[i] = *P(&items[i]).DeepCopyObject().(P)
	}
	return out
}
