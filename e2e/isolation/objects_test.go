package isolation_test

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const shardLabel = "sharding.fluxcd.io/key"

func goodKustomization(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{
			"namespace": namespace, "name": "good", "labels": map[string]any{shardLabel: namespace},
		},
		"spec": map[string]any{
			"serviceAccountName": namespace + "-gitops", "prune": true, "interval": "10m", "suspend": true,
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "good"},
		},
	}}
}

func goodGitRepository(namespace string) *unstructured.Unstructured {
	return source(namespace, "GitRepository", "https://git.example.org/acme/apps")
}

func goodOCIRepository(namespace string) *unstructured.Unstructured {
	return source(namespace, "OCIRepository", "oci://registry.example.org/acme/apps")
}

// source is suspended, so that nothing is fetched and nobody else writes it.
func source(namespace, kind, url string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": "good"},
		"spec":     map[string]any{"url": url, "interval": "10m", "suspend": true},
	}}
}

func goodTenantGitOps(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gitops.cozystack.io/v1alpha1", "kind": "TenantGitOps",
		"metadata": map[string]any{"namespace": namespace, "name": "gitops"},
		"spec": map[string]any{"suspend": true, "sources": []any{map[string]any{
			"name": "apps", "git": map[string]any{"url": "https://git.example.org/acme/apps"},
		}}},
	}}
}

// change makes something else of a good object.
type change func(*unstructured.Unstructured)

// field sets what a dotted path names.
func field(path string, value any) change {
	return func(o *unstructured.Unstructured) { set(o, value, strings.Split(path, ".")...) }
}

// without removes what a dotted path names.
func without(path string) change {
	return func(o *unstructured.Unstructured) {
		unstructured.RemoveNestedField(o.Object, strings.Split(path, ".")...)
	}
}

func label(key, value string) change {
	return func(o *unstructured.Unstructured) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[key] = value
		o.SetLabels(labels)
	}
}

func withFinalizer(name string) change {
	return func(o *unstructured.Unstructured) { o.SetFinalizers(append(slices.Clone(o.GetFinalizers()), name)) }
}

func set(o *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(o.Object, value, path...); err != nil {
		panic(err)
	}
}

func secretNamed(name string) map[string]any { return map[string]any{"name": name} }
