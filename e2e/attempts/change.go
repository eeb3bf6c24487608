package attempts

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Change makes something else of an object that is all right. To apply it once more
// changes nothing.
type Change func(*unstructured.Unstructured)

// Holds says whether an object is as the change would have it.
func (c Change) Holds(object *unstructured.Unstructured) bool {
	changed := object.DeepCopy()
	c(changed)
	return equality.Semantic.DeepEqual(object.Object, changed.Object)
}

// Field sets what a dotted path names.
func Field(path string, value any) Change {
	return func(o *unstructured.Unstructured) { Set(o, value, strings.Split(path, ".")...) }
}

// Without removes what a dotted path names.
func Without(path string) Change {
	return func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, strings.Split(path, ".")...)
	}
}

// Label sets a label.
func Label(key, value string) Change {
	return func(o *unstructured.Unstructured) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
		o.SetLabels(labels)
	}
}

// Annotation sets an annotation.
func Annotation(key, value string) Change {
	return func(o *unstructured.Unstructured) {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[key] = value
		o.SetAnnotations(annotations)
	}
}

// WithFinalizer adds a finalizer.
func WithFinalizer(name string) Change {
	return func(o *unstructured.Unstructured) {
		if !slices.Contains(o.GetFinalizers(), name) {
			o.SetFinalizers(append(slices.Clone(o.GetFinalizers()), name))
		}
	}
}

// Set sets what a path names.
func Set(o *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err)
	}
}

// Named is a reference to an object by its name.
func Named(name string) map[string]any { return map[string]any{"name": name} }
