package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	scheme := embedded.Scheme()
	if err := kinds.AddToScheme(scheme); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	options := embedded.Options{PackageOperator: true, Scheme: scheme}
	os.Exit(embedded.Main(m, options, func(_ context.Context, c *embedded.Cluster) error {
		cluster = c
		return nil
	}))
}

// create creates an object of a kind of the platform's, from the YAML of what it has
// beside its name.
func create(t *testing.T, kind, name, content string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		t.Fatal(err)
	}
	object.SetGroupVersionKind(kinds.GroupVersion.WithKind(kind))
	object.SetName(name)
	if err := cluster.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// newSource creates a PackageSource with the variant "default", from the YAML of its
// components.
func newSource(t *testing.T, name, components string) *unstructured.Unstructured {
	t.Helper()
	return create(t, "PackageSource", name, "spec: {variants: [{name: default, components: "+components+"}]}")
}

// newPackage creates a Package from the YAML of its spec, and waits until it is ready.
func newPackage(t *testing.T, name, spec string) *unstructured.Unstructured {
	t.Helper()
	pkg := create(t, "Package", name, "spec: "+spec)
	awaitReady(t, name, metav1.ConditionTrue, "ReconciliationSucceeded")
	return pkg
}

// newInstalled creates a source of one component, and its Package: both are called name, and
// so is the component and the release, in the namespace cozy-<name>. The release has a
// first status, as it soon has on the platform: until then the API server stores, at the
// next update, what it has for an object without one.
func newInstalled(t *testing.T, name, spec string) (pkg, release *unstructured.Unstructured) {
	t.Helper()
	newSource(t, name, fmt.Sprintf("[{name: %s, path: %s, install: {namespace: cozy-%s}}]", name, name, name))
	pkg = newPackage(t, name, spec)
	release = read(t, releaseNamed("cozy-"+name, name))
	triggers(t, "its first status", release, func() { changeStatus(t, release, "status: {observedGeneration: 1}") })
	return pkg, read(t, release)
}

func releaseNamed(namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kinds.HelmGroupVersion.WithKind("HelmRelease"))
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// read reads an object anew.
func read(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// change merges YAML into an object.
func change(t *testing.T, object client.Object, patch string) {
	t.Helper()
	if err := cluster.Client.Patch(t.Context(), object, mergePatch(t, patch)); err != nil {
		t.Fatal(err)
	}
}

// changeStatus merges YAML into an object's status.
func changeStatus(t *testing.T, object client.Object, patch string) {
	t.Helper()
	if err := cluster.Client.Status().Patch(t.Context(), object, mergePatch(t, patch)); err != nil {
		t.Fatal(err)
	}
}

func mergePatch(t *testing.T, patch string) client.Patch {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.MergePatchType, content)
}

// awaitReady waits until a Package's Ready condition is so, and returns the Package.
func awaitReady(t *testing.T, name string, status metav1.ConditionStatus, reason string) *kinds.Package {
	t.Helper()
	pkg := &kinds.Package{}
	harness.Await(t, fmt.Sprintf("Package %s to have Ready=%s, %s", name, status, reason), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, pkg); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(pkg.Status.Conditions, "Ready")
		if ready == nil {
			return false, "no condition"
		}
		return ready.Status == status && ready.Reason == reason, fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message)
	})
	return pkg
}

// awaitFailure waits until a Package says of a release that it could not be written, and
// why. Now and then it says so in passing, where its cache was behind.
func awaitFailure(t *testing.T, name, release, part string) {
	t.Helper()
	prefix := "Failed to create HelmRelease " + release + ": "
	harness.Await(t, "Package "+name+" to say "+prefix+part, func(context.Context) (bool, string) {
		message := readyMessage(awaitReady(t, name, metav1.ConditionFalse, "HelmReleaseFailed"))
		return strings.HasPrefix(message, prefix) && strings.Contains(message, part), message
	})
}

func readyMessage(pkg *kinds.Package) string {
	if ready := apimeta.FindStatusCondition(pkg.Status.Conditions, "Ready"); ready != nil {
		return ready.Message
	}
	return ""
}

// report reads what the operator has counted.
func report(t *testing.T) counts.Report {
	t.Helper()
	counted, err := cluster.PackageOperatorCounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return counted
}

// updates are what became of the updates of a release.
func updates(t *testing.T, release client.Object) counts.Write {
	t.Helper()
	return report(t).Of(counts.Update, "HelmRelease", release.GetNamespace(), release.GetName())
}

// triggers does something, and waits until the operator has updated the release once more.
// That may be for what happened before, so a test that wants it to be for this repeats it.
func triggers(t *testing.T, what string, release client.Object, do func()) {
	t.Helper()
	before := updates(t, release)
	do()
	harness.Await(t, "an update of HelmRelease "+release.GetName()+" after "+what, func(context.Context) (bool, string) {
		now := updates(t, release)
		return now.Changed+now.Unchanged > before.Changed+before.Unchanged, fmt.Sprintf("%+v", now)
	})
}

// setValues makes these the values of the component called as its Package, and waits until
// they are the release's: the operator has written all else of the spec with them.
func setValues(t *testing.T, pkg, release *unstructured.Unstructured, key, value string) {
	t.Helper()
	change(t, pkg, fmt.Sprintf("spec: {components: {%s: {values: {%s: %s}}}}", pkg.GetName(), key, value))
	awaitValue(t, release, key, value)
}

// awaitValue waits until a release has a value, and reads the release.
func awaitValue(t *testing.T, release *unstructured.Unstructured, key, value string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("HelmRelease %s to have value %s of %s", release.GetName(), value, key), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release); err != nil {
			return false, err.Error()
		}
		values, _, err := unstructured.NestedMap(release.Object, "spec", "values")
		return err == nil && values[key] == value, fmt.Sprint(values, err)
	})
}

// want compares a value within an object, as it is printed; nil is none.
func want(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	found, exists, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	if value == nil {
		if exists {
			t.Errorf("%v of %s %s is %v, want none", path, object.GetKind(), object.GetName(), found)
		}
		return
	}
	if fmt.Sprint(found) != fmt.Sprint(value) {
		t.Errorf("%v of %s %s is %v, want %v", path, object.GetKind(), object.GetName(), found, value)
	}
}

// awaitAnother waits until there is an object of that name that is not the first.
func awaitAnother(t *testing.T, object *unstructured.Unstructured, first types.UID) {
	t.Helper()
	harness.Await(t, "another "+object.GetKind()+" "+object.GetName(), func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return err == nil && object.GetUID() != first, fmt.Sprint(err)
	})
}
