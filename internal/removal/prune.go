package removal

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// prune returns the content of the object without what git has let go of, and the set of
// what it applies now, encoded.
func prune(apply Apply, applied *fieldpath.Set) (pruned map[string]any, set, off string) {
	pruned, set, err := pruneBy(apply.Schema, apply, applied)
	if err != nil && apply.Schema != nil {
		// It does not fit the schema, which the API server may not enforce.
		pruned, set, err = pruneBy(nil, apply, applied)
	}
	if err != nil {
		// The error could quote the application.
		return nil, "", "the application cannot be compared with its schema"
	}
	return pruned, set, ""
}

func pruneBy(schema *Schema, apply Apply, applied *fieldpath.Set) (pruned map[string]any, set string, err error) {
	object, err := schema.typed(compared(apply.Object))
	if err != nil {
		return nil, "", fmt.Errorf("cannot type the application: %w", err)
	}
	if applied, err = inShape(applied, object); err != nil {
		return nil, "", err
	}
	if set, err = encode(applied, apply.Object); err != nil {
		return nil, "", err
	}
	if len(set) > maxAnnotation {
		// It will not be kept, so nothing is removed, and the rest need not be looked at.
		return nil, set, nil
	}
	merged, err := withStored(schema, object, apply.Old)
	if err != nil {
		return nil, "", err
	}
	before := last(apply.Old)
	if before == nil {
		return contentOf(merged), set, nil
	}
	if before, err = inShape(before, merged); err != nil {
		return nil, "", err
	}
	others, err := ofOthers(schema, merged, before.Union(applied))
	if err != nil {
		return nil, "", err
	}
	types, root := merged.Schema(), merged.TypeRef()
	stays := withAncestors(others.Union(applied)).Union(always).EnsureNamedFieldsAreMembers(types, root)
	goes := before.EnsureNamedFieldsAreMembers(types, root).Difference(stays)
	if goes.Empty() {
		return contentOf(merged), set, nil
	}
	return schema.defaulted(contentOf(merged.RemoveItems(goes))), set, nil
}

// always are the fields that stay, empty if need be.
var always = fieldpath.NewSet(
	fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "labels"), fieldpath.MakePathOrDie("metadata", "annotations"),
)

// withStored is the object with all that was stored before. An API server that takes
// lists as a whole has replaced them, where the schema would have kept the items of
// others.
func withStored(schema *Schema, object *typed.TypedValue, stored *unstructured.Unstructured) (*typed.TypedValue, error) {
	if stored == nil {
		return object, nil
	}
	old, err := schema.typed(compared(stored))
	if err != nil {
		return nil, fmt.Errorf("cannot type the stored application: %w", err)
	}
	merged, err := old.Merge(object)
	if err != nil {
		return nil, fmt.Errorf("cannot merge the application with the stored one: %w", err)
	}
	return merged, nil
}

// inShape makes a set speak of an object as its schema does now.
func inShape(set *fieldpath.Set, object *typed.TypedValue) (*fieldpath.Set, error) {
	shape, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("cannot list the fields of the application: %w", err)
	}
	reconciled, err := typed.ReconcileFieldSetWithSchema(set, object)
	if err != nil {
		return nil, fmt.Errorf("cannot reconcile the applied fields with the schema: %w", err)
	}
	if reconciled != nil {
		set = reconciled
	}
	return fit(set, shape), nil
}

// ofOthers are those of the fields that git has never applied which somebody must have
// set: not those that only have the schema's default. A map of nothing but defaults
// goes with what git had in it, as it does for a custom resource.
func ofOthers(schema *Schema, object *typed.TypedValue, ofGit *fieldpath.Set) (*fieldpath.Set, error) {
	all, err := object.ToFieldSet()
	if err != nil {
		return nil, fmt.Errorf("cannot list the fields of the application: %w", err)
	}
	never := ours(all).Difference(ofGit)
	if schema == nil || never.Empty() {
		return never, nil
	}
	without, err := schema.typed(schema.defaulted(contentOf(object.RemoveItems(never))))
	if err != nil {
		return nil, fmt.Errorf("cannot type the defaults of the application: %w", err)
	}
	differences, err := without.Compare(object)
	if err != nil {
		return nil, fmt.Errorf("cannot compare the application with its defaults: %w", err)
	}
	return never.Intersection(differences.Added.Union(differences.Modified)), nil
}

// compared is what of an object is compared.
func compared(object *unstructured.Unstructured) map[string]any {
	metadata := map[string]any{}
	for _, part := range []string{"labels", "annotations"} {
		if content, found, _ := unstructured.NestedMap(object.Object, "metadata", part); found {
			delete(content, Annotation)
			metadata[part] = content
		}
	}
	content := map[string]any{"apiVersion": comparedVersion, "kind": comparedKind, "metadata": metadata}
	if spec, found := object.Object["spec"]; found {
		content["spec"] = runtime.DeepCopyJSONValue(spec)
	}
	return content
}

// contentOf is the content of a typed value, which may share memory with it.
func contentOf(value *typed.TypedValue) map[string]any {
	content, _ := value.AsValue().Unstructured().(map[string]any)
	return content
}

func labelsOf(content map[string]any) map[string]string {
	labels, _, _ := unstructured.NestedStringMap(content, "metadata", "labels")
	return labels
}

func annotationsOf(content map[string]any) map[string]string {
	annotations, _, _ := unstructured.NestedStringMap(content, "metadata", "annotations")
	return annotations
}
