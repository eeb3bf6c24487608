package removal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

const (
	// Annotation holds what git has applied to an application: the field set of its last
	// apply, as managed fields would have it (FieldsV1), of spec, labels and annotations,
	// and whose set it is.
	Annotation = "gitops.cozystack.io/applied"
	// ReleaseAnnotation is where the applications API keeps it on the HelmRelease.
	ReleaseAnnotation = keptPrefix + Annotation

	// keptPrefix begins the keys of an application's annotations on its HelmRelease.
	keptPrefix = "apps.cozystack.io-"
	// offPrefix begins the annotation where removal is off; a reason follows.
	offPrefix = "off: "

	// maxAnnotation bounds the annotation: it is carried by each read of the application.
	maxAnnotation = 32 << 10
	// maxAnnotations is what the API server takes of keys and values together (256 KiB),
	// less some for the platform's own on the HelmRelease, and for the mark that removal
	// is off.
	maxAnnotations = 252 << 10
	maxWithMark    = 254 << 10
	// maxObject is well below what etcd takes (1.5 MiB): the HelmRelease is larger than
	// the application, and grows.
	maxObject = 1 << 20
)

// Tracking reads a HelmRelease's annotations: whether git's last apply was written down,
// and, where it could not be, why, so that what leaves git stays.
func Tracking(annotations map[string]string) (tracked bool, off string) {
	kept, found := annotations[ReleaseAnnotation]
	if !found {
		return false, ""
	}
	if reason, isOff := strings.CutPrefix(kept, offPrefix); isOff {
		return false, reason
	}
	return true, ""
}

// maxReason is longer than any reason that is given for removal being off.
const maxReason = 256

// Brief is the annotation as Tracking needs it: what git applied is left out, and so is
// what somebody has written there by hand that is longer than any reason.
func Brief(kept string) string {
	if strings.HasPrefix(kept, offPrefix) {
		return strings.Clone(strings.ToValidUTF8(kept[:min(len(kept), len(offPrefix)+maxReason)], ""))
	}
	return "{}"
}

// last is what git applied before; nil where nobody has written it down, or removal was
// off, or somebody has put something else there: that of another application, say, which
// this one was copied from with all that it had.
func last(old *unstructured.Unstructured) *fieldpath.Set {
	if old == nil {
		return nil
	}
	kept := old.GetAnnotations()[Annotation]
	if !strings.HasPrefix(kept, "{") || len(kept) > maxAnnotation || !json.Valid([]byte(kept)) {
		return nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(strings.NewReader(kept)); err != nil || !set.Has(nameOf(old)) {
		return nil
	}
	return ours(set)
}

// nameOf is the field that says in a kept set which application it is of.
func nameOf(object *unstructured.Unstructured) fieldpath.Path {
	whole := value.NewValueInterface(strings.Join([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, "/"))
	return fieldpath.MakePathOrDie("metadata", "name", whole)
}

// encode is the inverse of last: what is kept of a set that git applied to an object.
func encode(set *fieldpath.Set, object *unstructured.Unstructured) (string, error) {
	content, err := set.Union(fieldpath.NewSet(nameOf(object))).ToJSON()
	if err != nil {
		return "", fmt.Errorf("cannot encode the applied fields: %w", err)
	}
	return string(bytes.TrimSpace(content)), nil
}

// fits says why an annotation cannot be kept beside the others; nothing where it can.
func fits(object *unstructured.Unstructured, others map[string]string, value string) string {
	if len(value) > maxAnnotation {
		return tooManyFields(len(value))
	}
	if total := sizeWith(others, value); total > maxAnnotations {
		return fmt.Sprintf("the annotations take %d bytes with the fields that git applies, more than %d", total, maxAnnotations)
	}
	content := object.Object
	encoded, err := json.Marshal(map[string]any{"spec": content["spec"], "labels": object.GetLabels(), "annotations": others, "applied": value})
	if err != nil {
		return "the application cannot be encoded"
	}
	if len(encoded) > maxObject {
		return fmt.Sprintf("the application takes %d bytes with the fields that git applies, more than %d", len(encoded), maxObject)
	}
	return ""
}

func tooManyFields(size int) string {
	return fmt.Sprintf("the fields that git applies take %d bytes to remember, more than %d", size, maxAnnotation)
}

// sizeWith is what the annotations take on the HelmRelease, with this value of ours.
func sizeWith(others map[string]string, value string) int {
	total := len(ReleaseAnnotation) + len(value)
	for key, content := range others {
		if key != Annotation {
			total += len(keptPrefix) + len(key) + len(content)
		}
	}
	return total
}
