package attempts

// Kustomizations are what no tenant may make of a Kustomization.
func Kustomizations(namespace string) []Attempt {
	return []Attempt{
		{Name: "no shard label", Change: Without("metadata.labels"), Mend: "sharding.fluxcd.io/key: " + namespace},
		{Name: "an empty shard label", Change: Label(ShardLabel, ""), Mend: "sharding.fluxcd.io/key: " + namespace},
		{Name: "another tenant's shard", Change: Label(ShardLabel, "tenant-other"), Mend: "sharding.fluxcd.io/key: " + namespace},
		{Name: "no account", Change: Without("spec.serviceAccountName"), Mend: namespace + "-gitops"},
		{Name: "another account", Change: Field("spec.serviceAccountName", "default"), Mend: namespace + "-gitops"},
		{Name: "the tenant's own account", Change: Field("spec.serviceAccountName", namespace), Mend: namespace + "-gitops"},
		{Name: "another namespace's source", Change: Field("spec.sourceRef.namespace", "cozy-system"), Mend: "remove spec.sourceRef.namespace"},
		{Name: "an ExternalArtifact", Change: Field("spec.sourceRef.kind", "ExternalArtifact"), Mend: "GitRepository or OCIRepository"},
		{Name: "a Bucket", Change: Field("spec.sourceRef.kind", "Bucket"), Mend: "GitRepository or OCIRepository"},
		{Name: "dependsOn elsewhere", Change: Field("spec.dependsOn", []any{
			map[string]any{"name": "a"}, map[string]any{"name": "b", "namespace": "tenant-other"},
		}), Mend: "remove the namespace"},
		{Name: "kubeConfig by Secret", Change: Field("spec.kubeConfig", map[string]any{"secretRef": Named("admin.gitops")}), Mend: "remove it"},
		{Name: "kubeConfig by ConfigMap", Change: Field("spec.kubeConfig", map[string]any{"configMapRef": Named("admin")}), Mend: "remove it"},
		{Name: "another target", Change: Field("spec.targetNamespace", "kube-system"), Mend: "remove it"},
		{Name: "a tenant beside as target", Change: Field("spec.targetNamespace", "tenant-other"), Mend: "remove it"},
		{Name: "the tenant above as target", Change: Field("spec.targetNamespace", "tenant-root"), Mend: "remove it"},
		{Name: "a tenant below as target", Change: Field("spec.targetNamespace", namespace+"-child"), Mend: "TenantGitOps"},
		{Name: "decryption with an account", Change: Field("spec.decryption", map[string]any{
			"provider": "sops", "serviceAccountName": "default",
		}), Mend: "remove it"},
		{Name: "decryption with a Secret", Change: Field("spec.decryption", map[string]any{
			"provider": "sops", "secretRef": Named("age.gitops"),
		}), Mend: "list the repository there"},
		{Name: "substituteFrom a Secret", Change: Field("spec.postBuild", map[string]any{
			"substituteFrom": []any{map[string]any{"kind": "Secret", "name": "db.gitops", "optional": false}},
		}), Mend: "use a ConfigMap"},
		{Name: "labels of Flux's owner", Change: Field("spec.commonMetadata", map[string]any{
			"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "x"},
		}), Mend: "remove them"},
		{Name: "labels of Flux's owner's namespace", Change: Field("spec.commonMetadata", map[string]any{
			"labels": map[string]any{"kustomize.toolkit.fluxcd.io/namespace": "x"},
		}), Mend: "remove them"},
		{Name: "a shard label for all", Change: Field("spec.commonMetadata", map[string]any{
			"labels": map[string]any{ShardLabel: "x"},
		}), Mend: "remove them"},
		{Name: "an interval that no program can hold", Change: Field("spec.interval", "99999999999h"), Mend: "at most 8760h"},
		{Name: "a timeout that no program can hold", Change: Field("spec.timeout", "99999999999h"), Mend: "at most 8760h"},
		{Name: "a retryInterval that no program can hold", Change: Field("spec.retryInterval", "99999999999h"), Mend: "at most 8760h"},
		{Name: "an interval of too many hours", Change: Field("spec.interval", "8761h"), Mend: "at most 8760h"},
		{Name: "a grant to prune", Change: Annotation("gitops.cozystack.io/prune-granted", "a"), Mend: "confirmPrune"},
		{Name: "a foreign finalizer", Change: WithFinalizer("example.org/for-ever"), Mend: "remove the others"},
	}
}
