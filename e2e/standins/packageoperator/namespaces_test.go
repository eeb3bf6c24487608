package main

import (
	"context"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// awaitLabels waits until a namespace has exactly these labels beside its name.
func awaitLabels(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	namespace := &corev1.Namespace{}
	labels = maps.Clone(labels)
	labels[corev1.LabelMetadataName] = name
	harness.Await(t, fmt.Sprintf("labels %v of namespace %s", labels, name), func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, namespace)
		return err == nil && maps.Equal(namespace.Labels, labels), fmt.Sprint(namespace.Labels, err)
	})
	if policy := namespace.Annotations["helm.sh/resource-policy"]; policy != "keep" {
		t.Errorf("annotation of namespace %s is %q, want keep", name, policy)
	}
}

func TestNamespacesAreTheSystemsUnlessTheyAreTenants(t *testing.T) {
	newSource(t, "spaces", `[
{name: system, path: p, install: {namespace: cozy-spaces}},
{name: tenant, path: p, install: {namespace: tenant-spaces}},
{name: disabled, path: p, install: {namespace: cozy-spaces-disabled}}]`)
	newPackage(t, "spaces", "{components: {disabled: {enabled: false}}}")
	awaitLabels(t, "cozy-spaces", map[string]string{"cozystack.io/system": "true"})
	awaitLabels(t, "tenant-spaces", map[string]string{})
	err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: "cozy-spaces-disabled"}, &corev1.Namespace{})
	if client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the namespace of a disabled component: %v, want none", err)
	}
}

func TestNamespaceIsPrivilegedAsLongAsAnyComponentThereIs(t *testing.T) {
	const namespace = "cozy-privileged"
	plain := map[string]string{"cozystack.io/system": "true", "team": "blue"}
	privileged := map[string]string{"cozystack.io/system": "true", "team": "blue", "pod-security.kubernetes.io/enforce": "privileged"}
	create := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"team": "blue"}}}
	if err := cluster.Client.Create(t.Context(), create); err != nil {
		t.Fatal(err)
	}
	newSource(t, "tame", "[{name: tame, path: p, install: {namespace: "+namespace+"}}]")
	tame := newPackage(t, "tame", "{}")
	awaitLabels(t, namespace, plain)
	newSource(t, "wild", "[{name: wild, path: p, install: {namespace: "+namespace+", privileged: true}}]")
	wild := newPackage(t, "wild", "{}")
	awaitLabels(t, namespace, privileged)
	// A Package without one sees those of the others.
	release := releaseNamed(namespace, "tame")
	setValues(t, tame, release, "a", "b")
	awaitLabels(t, namespace, privileged)
	change(t, wild, "spec: {components: {wild: {enabled: false}}}")
	harness.AwaitGone(t, cluster.Client, releaseNamed(namespace, "wild"))
	// Only who still has a component there looks after the namespace.
	awaitLabels(t, namespace, privileged)
	setValues(t, tame, release, "a", "c")
	awaitLabels(t, namespace, plain)
}

func TestLabelsOfTheNamespaceAreTakenBackByForce(t *testing.T) {
	pkg, release := newInstalled(t, "forced", "{}")
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cozy-forced"}}
	change(t, namespace, `metadata: {labels: {cozystack.io/system: "false", team: blue}, annotations: {helm.sh/resource-policy: null}}`)
	setValues(t, pkg, release, "a", "b")
	awaitLabels(t, "cozy-forced", map[string]string{"cozystack.io/system": "true", "team": "blue"})
}

func TestNamespaceStaysWithoutItsPackage(t *testing.T) {
	pkg, release := newInstalled(t, "outlived", "{}")
	if err := cluster.Client.Delete(t.Context(), pkg); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, release)
	awaitLabels(t, "cozy-outlived", map[string]string{"cozystack.io/system": "true"})
}
