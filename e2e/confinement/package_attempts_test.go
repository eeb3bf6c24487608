package confinement_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// platformNamespace is where the releases of the platform's Packages are.
const platformNamespace = "cozy-acme"

// theirPackage is a Package, and also what its PackageSource and its PackageValues are called.
const theirPackage = "acme.monitoring"

// Releases: of a component that is not overridden, of one that is, of no Package, of a
// tenant's application, and of the operator itself.
const (
	plain      = platformNamespace + "/plain"
	overridden = platformNamespace + "/overridden"
	noPackages = platformNamespace + "/no-packages"
	tenants    = tenant + "/postgres-db"
	itsOwn     = "cozy-gitops/gitops-operator"
)

const (
	packageLabel    = `cozystack.io/package: ` + theirPackage
	overriddenLabel = `gitops.cozystack.io/values-overridden: "true"`
)

const (
	platformsCondition = `{"type":"Ready","status":"True","reason":"Reconciled","message":"it runs","lastTransitionTime":"2026-01-01T00:00:00Z"}`
	operatorsCondition = `{"type":"ValuesOverridden","status":"True","reason":"PackageValues","message":"a","lastTransitionTime":"2026-01-01T00:00:00Z"}`
)

func fromYAML(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

func release(key, labels string) string {
	namespace, name := split(key)
	return fmt.Sprintf(`{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease,
metadata: {namespace: %s, name: %s, labels: {%s}, annotations: {example.org/theirs: a}, finalizers: [finalizers.fluxcd.io]},
spec: {interval: 1h, timeout: 5m, chartRef: {kind: OCIRepository, name: theirs}, values: {replicas: 1}}}`, namespace, name, labels)
}

// split splits the name of an object that may be in a namespace.
func split(key string) (namespace, name string) {
	if namespace, name, found := strings.Cut(key, "/"); found {
		return namespace, name
	}
	return "", key
}

// platformKind is an object of the platform, to be read, patched or deleted.
func platformKind(kind, key string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion("cozystack.io/v1alpha1")
	if kind == "HelmRelease" {
		obj.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
	}
	obj.SetKind(kind)
	namespace, name := split(key)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// patchStatus dry-runs a merge patch of an object's status.
func patchStatus(name string, obj client.Object, body string) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, obj.DeepCopyObject().(client.Object),
			client.RawPatch(types.MergePatchType, []byte(body)), &client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{DryRun: []string{"All"}}})
	}}
}

// packageAttempts are what may be tried with what the operator has for PackageValues.
func packageAttempts() []attempt {
	ofRelease := func(name, key, body string) attempt {
		return patch(name, platformKind("HelmRelease", key), body)
	}
	pkg := platformKind("Package", theirPackage)
	conditions := func(conditions ...string) string {
		return `{"status":{"conditions":[` + strings.Join(conditions, ",") + `]}}`
	}
	return []attempt{
		ofRelease("label a release of a Package as overridden", plain, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}}}`),
		ofRelease("take the label off a release", overridden, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":null}}}`),
		ofRelease("write a release anew by the annotation", overridden, `{"metadata":{"annotations":{"gitops.cozystack.io/values-wanted":"a"}}}`),
		ofRelease("change the values of a release without the label", plain, `{"spec":{"values":{"replicas":2}}}`),
		ofRelease("take the values of a release without the label", plain, `{"spec":{"values":null}}`),
		ofRelease("change the values of a release with the label, where no webhook is asked", overridden, `{"spec":{"values":{"replicas":2}}}`),
		ofRelease("change the values of a release labelled in the same write, where no webhook is asked", plain, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}},"spec":{"values":{"replicas":2}}}`),
		ofRelease("change the interval of a release", overridden, `{"spec":{"interval":"2h"}}`),
		ofRelease("add a field to a release", overridden, `{"spec":{"serviceAccountName":"flux"}}`),
		ofRelease("take a field out of a release", overridden, `{"spec":{"timeout":null}}`),
		ofRelease("lead a release to another chart", overridden, `{"spec":{"chartRef":{"name":"theft"}}}`),
		ofRelease("let a release take values from a Secret", overridden, `{"spec":{"valuesFrom":[{"kind":"Secret","name":"theft"}]}}`),
		ofRelease("suspend a release", overridden, `{"spec":{"suspend":true}}`),
		ofRelease("put another label on a release", overridden, `{"metadata":{"labels":{"a":"b"}}}`),
		ofRelease("take the Package's label off a release", overridden, `{"metadata":{"labels":{"cozystack.io/package":null}}}`),
		ofRelease("call a release another Package's", overridden, `{"metadata":{"labels":{"cozystack.io/package":"theft"}}}`),
		ofRelease("put another annotation on a release", overridden, `{"metadata":{"annotations":{"reconcile.fluxcd.io/forceAt":"now"}}}`),
		ofRelease("put an empty annotation on a release", overridden, `{"metadata":{"annotations":{"reconcile.fluxcd.io/forceAt":""}}}`),
		ofRelease("take an annotation off a release", overridden, `{"metadata":{"annotations":{"example.org/theirs":null}}}`),
		ofRelease("put a finalizer on a release", overridden, `{"metadata":{"finalizers":["finalizers.fluxcd.io","example.org/theft"]}}`),
		ofRelease("take the finalizer off a release", overridden, `{"metadata":{"finalizers":null}}`),
		ofRelease("put an owner on a release", overridden, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"theft","uid":"theft"}]}}`),
		patchStatus("change the status of a release", platformKind("HelmRelease", overridden), `{"status":{"observedGeneration":9}}`),
		create("make a release", release(platformNamespace+"/theft", packageLabel)),
		remove("delete a release", platformKind("HelmRelease", overridden)),
		ofRelease("label a release of no Package as overridden", noPackages, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}}}`),
		ofRelease("call a release of no Package a Package's", noPackages, `{"metadata":{"labels":{"cozystack.io/package":"acme.monitoring"}}}`),
		ofRelease("label a release of a tenant as overridden", tenants, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}}}`),
		ofRelease("change the values of a release of a tenant", tenants, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}},"spec":{"values":{"replicas":2}}}`),
		ofRelease("label its own release as overridden", itsOwn, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}}}`),
		ofRelease("change the values of its own release", itsOwn, `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"true"}},"spec":{"values":{"replicas":2}}}`),

		patchStatus("say of a Package that it is overridden", pkg, conditions(platformsCondition, operatorsCondition)),
		patchStatus("change another condition of a Package", pkg, conditions(strings.Replace(platformsCondition, "it runs", "theft", 1), operatorsCondition)),
		patchStatus("add another condition to a Package", pkg, conditions(platformsCondition, strings.Replace(operatorsCondition, "ValuesOverridden", "Theft", 1))),
		patchStatus("take the conditions of a Package", pkg, `{"status":{"conditions":null}}`),
		patchStatus("take the status of a Package", pkg, `{"status":null}`),
		patchStatus("change the dependencies of a Package", pkg, `{"status":{"dependencies":{"acme.base":{"ready":false}}}}`),
		patchStatus("change what a newer platform says of a Package", pkg, `{"status":{"newer":"theft"}}`),
		patch("change the values in a Package", pkg, `{"spec":{"components":{"grafana":{"values":{"replicas":2}}}}}`),
		patch("label a Package", pkg, `{"metadata":{"labels":{"a":"b"}}}`),
		create("make a Package", `{apiVersion: cozystack.io/v1alpha1, kind: Package, metadata: {name: theft}, spec: {}}`),
		remove("delete a Package", pkg),

		{"say what it likes of a PackageValues", func(ctx context.Context, c client.Client) error {
			values := &cozyv1.PackageValues{}
			if err := c.Get(ctx, client.ObjectKey{Name: theirPackage}, values); err != nil {
				return err
			}
			values.Status.Releases = "theft"
			return c.Status().Update(ctx, values, &client.SubResourceUpdateOptions{UpdateOptions: client.UpdateOptions{DryRun: []string{"All"}}})
		}},
		patch("change a PackageValues", platformKind("PackageValues", theirPackage), `{"spec":{"suspend":true}}`),
		create("make a PackageValues", `{apiVersion: cozystack.io/v1alpha1, kind: PackageValues, metadata: {name: theft}, spec: {components: {grafana: {values: {replicas: 2}}}}}`),
		remove("delete a PackageValues", platformKind("PackageValues", theirPackage)),
		read("read the values of every Package", pkg),
		read("read the values of every PackageValues", platformKind("PackageValues", theirPackage)),

		patch("change a PackageSource", platformKind("PackageSource", theirPackage), `{"spec":{"sourceRef":{"name":"theft"}}}`),
		patchStatus("change the status of a PackageSource", platformKind("PackageSource", theirPackage), `{"status":{"variants":"theft"}}`),
		create("make a PackageSource", `{apiVersion: cozystack.io/v1alpha1, kind: PackageSource, metadata: {name: theft}, spec: {}}`),
		remove("delete a PackageSource", platformKind("PackageSource", theirPackage)),
	}
}

// layPackage lays in what packageAttempts are about. The kind Package keeps whatever is in
// its status, as a newer platform's may.
func layPackage(t *testing.T, admin client.Client) {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := admin.Get(t.Context(), client.ObjectKey{Name: "packages.cozystack.io"}, definition); err != nil {
		t.Fatal(err)
	}
	status := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	status.XPreserveUnknownFields = new(true)
	definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"] = status
	if err := admin.Update(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: named("", platformNamespace)}
	objects := []client.Object{namespace}
	for _, manifest := range []string{
		`{apiVersion: cozystack.io/v1alpha1, kind: PackageSource, metadata: {name: acme.monitoring}, spec: {variants: [{name: default, components: [{name: grafana, path: grafana}]}]}}`,
		`{apiVersion: cozystack.io/v1alpha1, kind: Package, metadata: {name: acme.monitoring}, spec: {}}`,
		`{apiVersion: cozystack.io/v1alpha1, kind: PackageValues, metadata: {name: acme.monitoring}, spec: {components: {grafana: {values: {replicas: 3}}}}}`,
		release(plain, packageLabel),
		release(overridden, packageLabel+", "+overriddenLabel),
		release(noPackages, "a: b"),
		release(tenants, "a: b"),
		release(itsOwn, packageLabel),
	} {
		objects = append(objects, fromYAML(t, manifest))
	}
	for _, obj := range objects {
		if err := admin.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	harness.Await(t, "the Package to keep what is in its status", func(ctx context.Context) (bool, string) {
		pkg := platformKind("Package", theirPackage)
		body := `{"status":{"newer":"a","conditions":[` + platformsCondition + `],"dependencies":{"acme.base":{"ready":true}}}}`
		err := admin.Status().Patch(ctx, pkg, client.RawPatch(types.MergePatchType, []byte(body)))
		_, kept, _ := unstructured.NestedString(pkg.Object, "status", "newer")
		return kept, fmt.Sprint(err)
	})
}
