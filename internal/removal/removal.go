// Package removal makes what leaves git leave the application, on an API server that
// stores no managed fields: what the last apply set, and this one no longer does, is
// taken out of the object.
//
// What an apply sets is in the managed fields that admission sees, although they are not
// stored. It is kept from one apply to the next in an annotation.
package removal

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Apply is an apply by git, as admission sees it.
type Apply struct {
	// Old is the object as it is stored; nil for one that is new.
	Old *unstructured.Unstructured
	// Object as it would be stored, with the managed fields of this apply.
	Object *unstructured.Unstructured
	// Schema of the kind's spec; nil where there is none. Then lists are replaced as a
	// whole, and nothing has a default.
	Schema *Schema
}

// Removed is what comes of an apply.
type Removed struct {
	// Object as it is to be stored.
	Object *unstructured.Unstructured
	// Off says why nothing is removed from it; empty where removal works.
	Off string
}

// Decide takes out of the object what git applied last time and does not apply now, and
// writes down what it applies. It returns nil for what is no apply of Flux's: an edit of
// its metadata, say, changes nothing that git has set.
//
// It gives the same bytes for the same input, and for its own answer put in again.
func Decide(apply Apply) *Removed {
	applied, off, found := appliedBy(apply.Object)
	if !found {
		return nil
	}
	object := apply.Object.DeepCopy()
	if off == "" {
		var pruned map[string]any
		var set string
		if pruned, set, off = prune(apply, applied); off == "" {
			off = record(object, pruned, set)
		}
	}
	if off != "" {
		recordOff(object, off)
	}
	return &Removed{Object: object, Off: off}
}

// record puts the pruned content and the applied set into the object, if that fits.
func record(object *unstructured.Unstructured, content map[string]any, applied string) (off string) {
	annotations := maps.Clone(annotationsOf(content))
	if off := fits(object, annotations, applied); off != "" {
		return off
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[Annotation] = applied
	object.SetAnnotations(annotations)
	object.SetLabels(labelsOf(content))
	if spec, found := content["spec"]; found {
		object.Object["spec"] = spec
	}
	return ""
}

// recordOff leaves the object as it is, but for the mark that removal is off. Where even
// that does not fit the annotation goes: what it says would not be true any longer.
func recordOff(object *unstructured.Unstructured, off string) {
	annotations := object.GetAnnotations()
	delete(annotations, Annotation)
	if mark := offPrefix + off; sizeWith(annotations, mark) <= maxWithMark {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[Annotation] = mark
	}
	object.SetAnnotations(annotations)
}
