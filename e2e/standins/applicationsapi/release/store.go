package release

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// FromApplication is the release that an application is stored as. It is made anew each
// time: of the stored one, nil if there is none, only the shard label is kept, and the
// resource version where the application names none. Finalizers, owners, suspension and
// whatever else others put on it are gone.
func FromApplication(kind *catalog.Kind, application, stored *unstructured.Unstructured) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: map[string]any{}}
	made.SetGroupVersionKind(GroupVersionKind)
	made.SetNamespace(application.GetNamespace())
	made.SetName(kind.ReleaseName(application.GetName()))

	labels := maps.Clone(kind.ReleaseLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, identity(kind, application.GetName()))
	maps.Copy(labels, prefixed(application.GetLabels()))
	if stored != nil {
		made.SetResourceVersion(stored.GetResourceVersion())
		if shard, found := stored.GetLabels()[shardLabel]; found {
			labels[shardLabel] = shard
		}
	}
	if version := application.GetResourceVersion(); version != "" {
		made.SetResourceVersion(version)
	}
	made.SetLabels(labels)
	if annotations := prefixed(application.GetAnnotations()); len(annotations) > 0 {
		made.SetAnnotations(annotations)
	}
	made.Object["spec"] = releaseSpec(kind, application)
	return made
}

func releaseSpec(kind *catalog.Kind, application *unstructured.Unstructured) map[string]any {
	retryForEver := map[string]any{"remediation": map[string]any{"retries": int64(-1)}}
	spec := map[string]any{
		"chartRef":   runtime.DeepCopyJSON(kind.ChartRef),
		"interval":   "5m0s",
		"install":    retryForEver,
		"upgrade":    retryForEver,
		"valuesFrom": []any{map[string]any{"kind": "Secret", "name": valuesSecret}},
	}
	if values, found := application.Object["spec"].(map[string]any); found {
		spec["values"] = runtime.DeepCopyJSON(values)
	}
	return spec
}
