package removal

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// manager is the name that Flux applies under.
const manager = "kustomize-controller"

// maxApplied bounds what is decoded of an apply. It is well above what the annotation holds
// of the same fields: what is larger would not fit, and a tenant's manifest of some hundred
// thousand keys would keep the operator busy for seconds before that showed.
const maxApplied = 2 * maxAnnotation

// appliedBy is what this apply of Flux's sets, or why that cannot be kept.
func appliedBy(object *unstructured.Unstructured) (set *fieldpath.Set, off string, found bool) {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		if entry.FieldsV1 == nil {
			return nil, "", false
		}
		if size := len(entry.FieldsV1.GetRawBytes()); size > maxApplied {
			return nil, tooManyFields(size), true
		}
		set = &fieldpath.Set{}
		if set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			return nil, "", false
		}
		return ours(set), "", true
	}
	return nil, "", false
}

// ours keeps of a set what removal is about: spec, labels and annotations, and never the
// annotation in which it is kept. So nothing that tells who the object is can be removed.
func ours(set *fieldpath.Set) *fieldpath.Set {
	kept := fieldpath.NewSet()
	for _, part := range [][]string{{"spec"}, {"metadata", "labels"}, {"metadata", "annotations"}} {
		from, into := set, kept
		for _, name := range part {
			element := fieldpath.PathElement{FieldName: &name}
			below, found := from.Children.Get(element)
			if !found {
				below = fieldpath.NewSet()
			}
			from, into = below, into.Children.Descend(element)
		}
		*into = *into.Union(from)
	}
	return kept.RecursiveDifference(own)
}

// own is the annotation, as a field.
var own = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", Annotation))

// fit makes a set speak of lists as the object's own set does. An API server that takes
// lists as a whole says that git has set the list, where the schema tells its items
// apart: then git has set all of them. And where a list is a whole that was none when the
// set was written down, git has set the list.
func fit(set, shape *fieldpath.Set) *fieldpath.Set {
	fitted := fieldpath.NewSet()
	fitInto(fitted, set, shape)
	return fitted
}

func fitInto(fitted, set, shape *fieldpath.Set) {
	set.Members.Iterate(func(element fieldpath.PathElement) {
		fitted.Members.Insert(element)
		if _, deeper := set.Children.Get(element); deeper {
			return
		}
		if items, found := shape.Children.Get(element); found && isList(items) {
			child := fitted.Children.Descend(element)
			*child = *child.Union(items)
		}
	})
	set.Children.Iterate(func(element fieldpath.PathElement) {
		below, _ := set.Children.Get(element)
		shaped, found := shape.Children.Get(element)
		if !found {
			shaped = fieldpath.NewSet()
		}
		if isList(below) && !isList(shaped) {
			fitted.Members.Insert(element)
			return
		}
		fitInto(fitted.Children.Descend(element), below, shaped)
	})
}

// isList says whether a set is of the items of a list.
func isList(set *fieldpath.Set) bool {
	list := false
	look := func(element fieldpath.PathElement) { list = list || element.FieldName == nil }
	set.Members.Iterate(look)
	set.Children.Iterate(look)
	return list
}

// withAncestors adds to a set what its fields lie in, and the keys of the list items
// that they lie in: a field cannot stay without them. It goes down the set once: paths
// would be gone through for each field, which takes minutes where a tenant's manifest is
// nested some hundred levels deep.
func withAncestors(set *fieldpath.Set) *fieldpath.Set {
	whole := fieldpath.NewSet()
	addWithAncestors(whole, set)
	return whole
}

func addWithAncestors(whole, set *fieldpath.Set) {
	set.Members.Iterate(func(element fieldpath.PathElement) { addItem(whole, element) })
	set.Children.Iterate(func(element fieldpath.PathElement) {
		if below, _ := set.Children.Get(element); !below.Empty() {
			addItem(whole, element)
			addWithAncestors(whole.Children.Descend(element), below)
		}
	})
}

// addItem adds an element, and for an item of a list the keys that tell it from others.
func addItem(set *fieldpath.Set, element fieldpath.PathElement) {
	set.Members.Insert(element)
	if element.Key == nil {
		return
	}
	for _, key := range *element.Key {
		set.Children.Descend(element).Members.Insert(fieldpath.PathElement{FieldName: &key.Name})
	}
}
