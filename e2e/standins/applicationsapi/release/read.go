package release

import (
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// survivors are the fields of a release's metadata that are the application's too.
// Managed fields, owners, finalizers and the generation are not among them.
var survivors = []string{
	"namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// shownConditions are the types of conditions that a release passes on.
var shownConditions = map[string]bool{"Ready": true, "Released": true, "WorkloadsReady": true}

// conditionFields are what is passed on of a condition.
var conditionFields = []string{"type", "status", "reason", "message", "lastTransitionTime"}

// ToApplication reads an application back from its release, with the schema's defaults.
func ToApplication(kind *catalog.Kind, stored *unstructured.Unstructured) *unstructured.Unstructured {
	metadata := map[string]any{"name": strings.TrimPrefix(stored.GetName(), kind.ReleasePrefix)}
	of, _ := stored.Object["metadata"].(map[string]any)
	for _, field := range survivors {
		if value, found := of[field]; found {
			metadata[field] = value
		}
	}
	application := &unstructured.Unstructured{Object: map[string]any{"metadata": metadata}}
	application.SetGroupVersionKind(kind.GroupVersionKind())
	application.SetLabels(unprefixed(stored.GetLabels()))
	application.SetAnnotations(unprefixed(stored.GetAnnotations()))

	values, _, _ := unstructured.NestedMap(stored.Object, "spec", "values")
	if values == nil {
		values = map[string]any{}
	}
	kind.DefaultSpec(values)
	application.Object["spec"] = values
	application.Object["status"] = status(stored)
	return application
}

func status(stored *unstructured.Unstructured) map[string]any {
	all, _, _ := unstructured.NestedSlice(stored.Object, "status", "conditions")
	var shown []any
	for _, one := range all {
		condition, _ := one.(map[string]any)
		if name, _ := condition["type"].(string); !shownConditions[name] {
			continue
		}
		passed := maps.Clone(condition)
		maps.DeleteFunc(passed, func(field string, _ any) bool { return !passedOn(field) })
		shown = append(shown, passed)
	}
	made := map[string]any{}
	if shown != nil {
		made["conditions"] = shown
	}
	if revision, found, _ := unstructured.NestedString(stored.Object, "status", "lastAttemptedRevision"); found {
		made["version"] = revision
	}
	return runtime.DeepCopyJSON(made)
}

func passedOn(field string) bool {
	for _, one := range conditionFields {
		if one == field {
			return true
		}
	}
	return false
}
