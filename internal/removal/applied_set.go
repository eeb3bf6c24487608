package removal

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// manager is the name that Flux applies under.
const manager = "kustomize-controller"

// appliedBy is what this apply of Flux's sets.
func appliedBy(object *unstructured.Unstructured) (set *fieldpath.Set, found bool) {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		set = &fieldpath.Set{}
		if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)) != nil {
			return nil, false
		}
		return ours(set), true
	}
	return nil, false
}

// ours keeps of a set what removal is about: spec, labels and annotations, and never the
// annotation in which it is kept. So nothing that tells who the object is can be removed.
func ours(set *fieldpath.Set) *fieldpath.Set {
	kept := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		if isOurs(path) {
			kept.Insert(path.Copy())
		}
	})
	return kept
}

func isOurs(path fieldpath.Path) bool {
	name := func(i int) string {
		if i >= len(path) || path[i].FieldName == nil {
			return ""
		}
		return *path[i].FieldName
	}
	switch name(0) {
	case "spec":
		return len(path) > 1
	case "metadata":
		part := name(1)
		return len(path) > 2 && (part == "labels" || part == "annotations" && name(2) != Annotation)
	}
	return false
}

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
// that they lie in: a field cannot stay without them.
func withAncestors(set *fieldpath.Set) *fieldpath.Set {
	whole := fieldpath.NewSet()
	set.Iterate(func(path fieldpath.Path) {
		for i := range path {
			whole.Insert(path[:i+1].Copy())
			if path[i].Key == nil {
				continue
			}
			for _, key := range *path[i].Key {
				whole.Insert(append(path[:i+1].Copy(), fieldpath.PathElement{FieldName: &key.Name}))
			}
		}
	})
	return whole
}
