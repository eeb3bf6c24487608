package attempts

// HeldAnnotation is on sources that the operator suspends.
const HeldAnnotation = "gitops.cozystack.io/held"

// fetched are those that both kinds of source have.
func fetched() []Attempt {
	return []Attempt{
		{Name: "a Secret of the platform", Change: Field("spec.secretRef", Named("cozystack-values")), Mend: "<something>.gitops"},
		{Name: "a proxy", Change: Field("spec.proxySecretRef", Named("proxy.gitops")), Mend: "remove it"},
		{Name: "fetched too often", Change: Field("spec.interval", "1s"), Mend: "at least 30s"},
		{Name: "fetched too long", Change: Field("spec.timeout", "59m"), Mend: "at most 5m"},
		{Name: "a shard label", Change: Label(ShardLabel, "nobody"), Mend: "remove the label"},
		{Name: "the operator's annotation", Change: Annotation(HeldAnnotation, "a"), Mend: "the operator's"},
		{Name: "a foreign finalizer", Change: WithFinalizer("example.org/for-ever"), Mend: "remove the others"},
	}
}

// GitRepositories are what no tenant may make of a GitRepository, the hosts of its URL
// aside.
func GitRepositories() []Attempt {
	return append(fetched(),
		Attempt{Name: "the platform's cloud account", Change: Field("spec.provider", "azure"), Mend: "must be generic"},
		Attempt{Name: "another source inside", Change: Field("spec.include", []any{
			map[string]any{"repository": Named("other")},
		}), Mend: "spec.include"},
		Attempt{Name: "submodules", Change: Field("spec.recurseSubmodules", true), Mend: "remove it"},
		Attempt{Name: "verified with a foreign Secret", Change: Field("spec.verify", map[string]any{
			"mode": "HEAD", "secretRef": Named("keys"),
		}), Mend: "<something>.gitops"},
	)
}

// OCIRepositories are what no tenant may make of an OCIRepository, the hosts of its URL
// aside.
func OCIRepositories() []Attempt {
	return append(fetched(),
		Attempt{Name: "the platform's cloud account", Change: Field("spec.provider", "aws"), Mend: "must be generic"},
		Attempt{Name: "a service account", Change: Field("spec.serviceAccountName", "default"), Mend: "secretRef instead"},
		Attempt{Name: "a foreign certificate", Change: Field("spec.certSecretRef", Named("tls")), Mend: "<something>.gitops"},
		Attempt{Name: "verified with a foreign Secret", Change: Field("spec.verify", map[string]any{
			"provider": "cosign", "secretRef": Named("keys"),
		}), Mend: "<something>.gitops"},
		Attempt{Name: "verified with a foreign Secret's root", Change: Field("spec.verify", map[string]any{
			"provider": "cosign", "trustedRootSecretRef": Named("root"),
		}), Mend: "<something>.gitops"},
		Attempt{Name: "plain HTTP", Change: Field("spec.insecure", true), Mend: "over TLS"},
	)
}
