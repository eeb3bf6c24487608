package helmreleases

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

var releaseKind = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}

const finalizer = "finalizers.fluxcd.io"

// newNamespace makes the namespace of a test.
func newNamespace(t *testing.T, name string) string {
	t.Helper()
	if err := cluster.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	return name
}

func releaseNamed(namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(releaseKind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// newRelease creates a HelmRelease of a source of its own name; more is YAML that is
// added to its spec.
func newRelease(t *testing.T, namespace, name, more string) *unstructured.Unstructured {
	t.Helper()
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(more), &spec); err != nil {
		t.Fatal(err)
	}
	spec["interval"] = "1h"
	spec["chartRef"] = map[string]any{"kind": "ExternalArtifact", "namespace": "cozy-system", "name": name}
	object := releaseNamed(namespace, name)
	object.Object["spec"] = spec
	if err := cluster.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// change merges YAML into an object.
func change(t *testing.T, object client.Object, patch string) {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", content)); err != nil {
		t.Fatal(err)
	}
}

// condition is one of an object's status; one that is not there is empty.
func condition(object *unstructured.Unstructured, kind string) metav1.Condition {
	var status struct {
		Status struct{ Conditions []metav1.Condition }
	}
	content, err := json.Marshal(object.Object)
	if err == nil {
		err = json.Unmarshal(content, &status)
	}
	if err != nil {
		return metav1.Condition{Message: err.Error()}
	}
	for _, one := range status.Status.Conditions {
		if one.Type == kind {
			return one
		}
	}
	return metav1.Condition{}
}

// read reads an object anew.
func read(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// awaitCondition waits until a condition has a status and reason, and returns it.
func awaitCondition(t *testing.T, object *unstructured.Unstructured, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	what := fmt.Sprintf("%s %s/%s to have %s=%s, %s", object.GetKind(), object.GetNamespace(), object.GetName(), kind, status, reason)
	var found metav1.Condition
	harness.Await(t, what, func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		found = condition(object, kind)
		return found.Status == status && found.Reason == reason, fmt.Sprintf("%s %s: %s", found.Status, found.Reason, found.Message)
	})
	return found
}

// awaitObserved waits until the object's generation is observed.
func awaitObserved(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	harness.Await(t, "the generation of "+object.GetName()+" to be observed", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		observed := number(object, "observedGeneration")
		return observed == object.GetGeneration(), fmt.Sprintf("%d, not %d", observed, object.GetGeneration())
	})
}

// number is an integer of an object's status, -2 if it is not there.
func number(object *unstructured.Unstructured, field string) int64 {
	value, found, err := unstructured.NestedInt64(object.Object, "status", field)
	if err != nil || !found {
		return -2
	}
	return value
}

// history are the versions and states of the releases that a status lists.
func history(object *unstructured.Unstructured) string {
	entries, _, err := unstructured.NestedSlice(object.Object, "status", "history")
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, entry := range entries {
		if snapshot, ok := entry.(map[string]any); ok {
			text += fmt.Sprintf("v%v %v %v@%v;", snapshot["version"], snapshot["status"], snapshot["chartName"], snapshot["chartVersion"])
		}
	}
	return text
}

// awaitHistory waits for the releases that a status lists: Flux's patches write conditions
// first, and the rest of the status after them.
func awaitHistory(t *testing.T, release *unstructured.Unstructured, want string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("the history of %s to be %s", release.GetName(), want), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release); err != nil {
			return false, err.Error()
		}
		got := history(release)
		return got == want, got
	})
}

// valuesOf are the values that the built-in chart was made with.
func valuesOf(t *testing.T, release *unstructured.Unstructured) map[string]any {
	t.Helper()
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: release.GetNamespace(), Name: release.GetName() + "-values"}
	if err := cluster.Client.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(stored.Data["values.yaml"]), &values); err != nil {
		t.Fatal(err)
	}
	return values
}
