package attempts

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// ShardLabel says which controller a Kustomization is for.
const ShardLabel = "sharding.fluxcd.io/key"

// Kustomization is one that a tenant may write.
func Kustomization(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{
			"namespace": namespace, "name": "good", "labels": map[string]any{ShardLabel: namespace},
		},
		"spec": map[string]any{
			"serviceAccountName": namespace + "-gitops", "prune": true, "interval": "10m", "suspend": true,
			"sourceRef": map[string]any{"kind": "GitRepository", "name": "good"},
		},
	}}
}

// GitRepository is one that a tenant may write.
func GitRepository(namespace string) *unstructured.Unstructured {
	return source(namespace, "GitRepository", "https://git.example.org/acme/apps")
}

// OCIRepository is one that a tenant may write.
func OCIRepository(namespace string) *unstructured.Unstructured {
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

// TenantGitOps is one that a tenant may write.
func TenantGitOps(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gitops.cozystack.io/v1alpha1", "kind": "TenantGitOps",
		"metadata": map[string]any{"namespace": namespace, "name": "gitops"},
		"spec": map[string]any{"suspend": true, "sources": []any{map[string]any{
			"name": "apps", "git": map[string]any{"url": "https://git.example.org/acme/apps"},
		}}},
	}}
}
