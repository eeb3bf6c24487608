package packagevalues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// object is one of the platform's kinds, or ours, from the YAML of what it has beside its
// name.
func object(t *testing.T, kind, name, content string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(content), &o.Object); err != nil {
		t.Fatal(err)
	}
	o.SetGroupVersionKind(packages.GroupVersion.WithKind(kind))
	o.SetName(name)
	return o
}

func create(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// newPackage makes a Package with one component, "web", and awaits its release, in a
// namespace cozy-<name>. Values are YAML; none for none. The chart prints its values, beside
// defaults of its own.
func newPackage(t *testing.T, name, values string) *unstructured.Unstructured {
	t.Helper()
	chart(t, name+"-default-web", "replicas: 1\nfrom: chart\nchart: only\nlimits: {cpu: 1, memory: 1Gi}\n")
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cozy-" + name}})
	platformValues(t, "cozy-"+name, "from: platform\nplatform: only\n")
	create(t, object(t, "PackageSource", name, fmt.Sprintf(
		"spec: {variants: [{name: default, components: [{name: web, path: web, install: {namespace: cozy-%s}}, {name: library, path: library}]}]}", name)))
	spec := "spec: {}"
	if values != "" {
		spec = "spec: {components: {web: {values: " + values + "}}}"
	}
	create(t, object(t, "Package", name, spec))
	release := releaseOf(name)
	harness.AwaitExists(t, cluster.Client, release)
	return release
}

func releaseOf(name string) *unstructured.Unstructured {
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	release.SetNamespace("cozy-" + name)
	release.SetName("web")
	return release
}

// platformValues is the Secret that the platform tells its charts by.
func platformValues(t *testing.T, namespace, values string) {
	t.Helper()
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cozystack-values"},
		StringData: map[string]string{"values.yaml": values},
	})
}

// chart lays in a chart whose one object holds the values that it was rendered with.
func chart(t *testing.T, name, defaults string) {
	t.Helper()
	folder := filepath.Join(cluster.ChartsDir(), name)
	for file, content := range map[string]string{
		"Chart.yaml":  fmt.Sprintf("apiVersion: v2\nname: %s\nversion: 1.0.0\n", name),
		"values.yaml": defaults,
		"templates/values.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n" +
			"  values: {{ .Values | toJson | quote }}\n",
	} {
		path := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// rendered is what the chart was rendered with.
func rendered(ctx context.Context, name string) (map[string]any, error) {
	found := &corev1.ConfigMap{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: "cozy-" + name, Name: "web"}, found); err != nil {
		return nil, err
	}
	var values map[string]any
	err := json.Unmarshal([]byte(found.Data["values"]), &values)
	return values, err
}

// awaitRendered waits until the chart is rendered with these values, which are YAML.
func awaitRendered(t *testing.T, name, want string) {
	t.Helper()
	wanted := fromYAML(t, want)
	harness.Await(t, "Helm to have applied "+want, func(ctx context.Context) (bool, string) {
		got, err := rendered(ctx, name)
		if err != nil {
			return false, err.Error()
		}
		delete(got, "global")
		return reflect.DeepEqual(got, wanted), text(t, got)
	})
}

// overrideWeb writes a PackageValues whose component web is YAML.
func overrideWeb(t *testing.T, name, web string) {
	t.Helper()
	values := object(t, "PackageValues", name, "spec: {components: {web: "+web+"}}")
	stored := object(t, "PackageValues", name, "{}")
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		create(t, values)
		return
	}
	values.SetResourceVersion(stored.GetResourceVersion())
	if err := cluster.Client.Update(t.Context(), values); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, o client.Object) {
	t.Helper()
	if err := cluster.Client.Delete(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// patch merges YAML into an object.
func patch(t *testing.T, o client.Object, content string) {
	t.Helper()
	if err := cluster.Client.Patch(t.Context(), o, mergePatch(t, content)); err != nil {
		t.Fatal(err)
	}
}

func mergePatch(t *testing.T, content string) client.Patch {
	t.Helper()
	merge, err := yaml.YAMLToJSON([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.MergePatchType, merge)
}

// awaitState waits for the Ready condition of a PackageValues: a part of its reason or message.
func awaitState(t *testing.T, name string, ready metav1.ConditionStatus, part string) *cozyv1.PackageValues {
	t.Helper()
	values := &cozyv1.PackageValues{}
	harness.Await(t, fmt.Sprintf("PackageValues %s to be %s with %q", name, ready, part), func(ctx context.Context) (bool, string) {
		*values = cozyv1.PackageValues{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, values); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(values.Status.Conditions, "Ready")
		if condition == nil {
			return false, "no condition"
		}
		said := fmt.Sprintf("%s: %s: %s", condition.Status, condition.Reason, condition.Message)
		return condition.Status == ready && strings.Contains(said, part) && values.Status.ObservedGeneration == values.Generation, said
	})
	return values
}

func fromYAML(t *testing.T, content string) map[string]any {
	t.Helper()
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(content), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func text(t *testing.T, content any) string {
	t.Helper()
	encoded, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
