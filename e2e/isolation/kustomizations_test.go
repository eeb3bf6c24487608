package isolation_test

import (
	"testing"
)

func kustomizationEscapes(namespace string) []attempt {
	return []attempt{
		{name: "no shard label", change: without("metadata.labels"), mend: "sharding.fluxcd.io/key: " + namespace},
		{name: "an empty shard label", change: label(shardLabel, ""), mend: "sharding.fluxcd.io/key: " + namespace},
		{name: "another tenant's shard", change: label(shardLabel, "tenant-other"), mend: "sharding.fluxcd.io/key: " + namespace},
		{name: "no account", change: without("spec.serviceAccountName"), mend: namespace + "-gitops"},
		{name: "another account", change: field("spec.serviceAccountName", "default"), mend: namespace + "-gitops"},
		{name: "the tenant's own account", change: field("spec.serviceAccountName", namespace), mend: namespace + "-gitops"},
		{name: "another namespace's source", change: field("spec.sourceRef.namespace", "cozy-system"), mend: "remove spec.sourceRef.namespace"},
		{name: "an ExternalArtifact", change: field("spec.sourceRef.kind", "ExternalArtifact"), mend: "GitRepository or OCIRepository"},
		{name: "a Bucket", change: field("spec.sourceRef.kind", "Bucket"), mend: "GitRepository or OCIRepository"},
		{name: "dependsOn elsewhere", change: field("spec.dependsOn", []any{
			map[string]any{"name": "a"}, map[string]any{"name": "b", "namespace": "tenant-other"},
		}), mend: "remove the namespace"},
		{name: "kubeConfig by Secret", change: field("spec.kubeConfig", map[string]any{"secretRef": secretNamed("admin.gitops")}), mend: "remove it"},
		{name: "kubeConfig by ConfigMap", change: field("spec.kubeConfig", map[string]any{"configMapRef": secretNamed("admin")}), mend: "remove it"},
		{name: "another target", change: field("spec.targetNamespace", "kube-system"), mend: "remove it"},
		{name: "a tenant below as target", change: field("spec.targetNamespace", namespace+"-child"), mend: "TenantGitOps"},
		{name: "decryption with an account", change: field("spec.decryption", map[string]any{
			"provider": "sops", "serviceAccountName": "default",
		}), mend: "remove it"},
		{name: "decryption with a Secret", change: field("spec.decryption", map[string]any{
			"provider": "sops", "secretRef": secretNamed("age.gitops"),
		}), mend: "list the repository there"},
		{name: "substituteFrom a Secret", change: field("spec.postBuild", map[string]any{
			"substituteFrom": []any{map[string]any{"kind": "Secret", "name": "db.gitops"}},
		}), mend: "use a ConfigMap"},
		{name: "labels of Flux's owner", change: field("spec.commonMetadata", map[string]any{
			"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "x"},
		}), mend: "remove them"},
		{name: "a shard label for all", change: field("spec.commonMetadata", map[string]any{
			"labels": map[string]any{shardLabel: "x"},
		}), mend: "remove them"},
		{name: "a foreign finalizer", change: withFinalizer("example.org/for-ever"), mend: "remove the others"},
	}
}

func TestKustomizationsOfATenant(t *testing.T) {
	const namespace = "tenant-kustomizations"
	tryAll(t, newTenantAdmin(t, namespace), goodKustomization(namespace), kustomizationEscapes(namespace))
}

func TestGoodKustomizationsPass(t *testing.T) {
	const namespace = "tenant-goodkustomizations"
	passAll(t, newTenantAdmin(t, namespace), goodKustomization(namespace), map[string]change{
		"own namespace named": field("spec.sourceRef.namespace", namespace),
		"from OCI":            field("spec.sourceRef.kind", "OCIRepository"),
		"own target":          field("spec.targetNamespace", namespace),
		"own dependsOn":       field("spec.dependsOn", []any{map[string]any{"name": "a", "namespace": namespace}, map[string]any{"name": "b"}}),
		"own labels":          field("spec.commonMetadata", map[string]any{"labels": map[string]any{"team": "acme"}}),
		"Flux's finalizer":    withFinalizer("finalizers.fluxcd.io"),
		"a ConfigMap":         field("spec.postBuild", map[string]any{"substituteFrom": []any{map[string]any{"kind": "ConfigMap", "name": "x"}}}),
	})
}
