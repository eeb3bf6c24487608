package attempts

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// InGit sets a field of the git repository of a TenantGitOps' source.
func InGit(key string, value any) Change {
	return inSource(func(source map[string]any) { source["git"].(map[string]any)[key] = value })
}

// InSource sets a field of a TenantGitOps' source.
func InSource(key string, value any) Change {
	return inSource(func(source map[string]any) { source[key] = value })
}

// FromOCI makes the source of a TenantGitOps one of an OCI registry, with a field.
func FromOCI(key string, value any) Change {
	return inSource(func(source map[string]any) {
		delete(source, "git")
		source["oci"] = map[string]any{"url": "oci://registry.example.org/acme/apps", "interval": "1m", "timeout": "60s"}
		source["oci"].(map[string]any)[key] = value
	})
}

func inSource(change func(map[string]any)) Change {
	return func(o *unstructured.Unstructured) {
		change(o.Object["spec"].(map[string]any)["sources"].([]any)[0].(map[string]any))
	}
}

// TenantGitOpsHosts are the spellings of hosts inside, in the repository's URL.
func TenantGitOpsHosts() []Attempt {
	var attempts []Attempt
	for _, host := range slices.Concat(addresses, foldedAddresses, internalNames) {
		attempts = append(attempts, Attempt{
			Name: host, Change: InGit("url", "https://"+host+"/acme/apps"), Mend: "ask the platform's admin", BySchema: true,
		})
	}
	return attempts
}

// AllTenantGitOps are what no tenant may make of a TenantGitOps, the hosts aside. Most of
// it the kind's own schema refuses.
func AllTenantGitOps(namespace string) []Attempt {
	attempts := []Attempt{
		{Name: "submodules", Change: InGit("recurseSubmodules", true), Mend: "remove it"},
		{Name: "a foreign finalizer", Change: WithFinalizer("example.org/for-ever"), Mend: "remove the others"},
		{Name: "another target", Change: InSource("targetNamespace", "kube-system"), Mend: "nor a tenant below it"},
		{Name: "the tenant above as target", Change: InSource("targetNamespace", "tenant-root"), Mend: "nor a tenant below it"},
		{Name: "a tenant beside as target", Change: InSource("targetNamespace", namespace[:len(namespace)-1]+"x"), Mend: "nor a tenant below it"},
	}
	for name, change := range map[string]Change{
		"a foreign Secret":                      InGit("secretRef", Named("db-credentials")),
		"a foreign Secret, to verify with":      InGit("verify", map[string]any{"mode": "HEAD", "secretRef": Named("db-credentials")}),
		"a foreign Secret, for a registry":      FromOCI("secretRef", Named("db-credentials")),
		"a foreign certificate, for a registry": FromOCI("certSecretRef", Named("db-credentials")),
		"a foreign Secret, to decrypt with":     InSource("decryption", map[string]any{"provider": "sops", "secretRef": Named("db-credentials")}),
		"a foreign Secret, to substitute from":  InSource("postBuild", map[string]any{"substituteFrom": []any{map[string]any{"kind": "Secret", "name": "db-credentials", "optional": false}}}),
		"labels of Flux's owner":                InSource("commonMetadata", map[string]any{"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "x"}}),
		"a shard label for all":                 InSource("commonMetadata", map[string]any{"labels": map[string]any{ShardLabel: "x"}}),
		"a repository fetched too often":        InGit("interval", "1s"),
		"a repository fetched too long":         InGit("timeout", "59m"),
		"an artifact fetched too often":         FromOCI("interval", "1s"),
		"health of what is no application":      InSource("healthChecks", []any{map[string]any{"apiVersion": "v1", "kind": "Secret", "name": "db-credentials"}}),
		"a path out of the repository":          InSource("path", "../../etc"),
		"credentials in the URL":                InGit("url", "https://user:word@git.example.org/acme/apps"),
		"a plain http URL":                      InGit("url", "http://git.example.org/acme/apps"),
		"a file URL":                            InGit("url", "file:///etc"),
		"an scp-style URL":                      InGit("url", "git@git.example.org:acme/apps"),
		"a registry that is an address":         FromOCI("url", "oci://10.0.0.1/acme/apps"),
		"a registry that is a Service":          FromOCI("url", "oci://registry.cozy-system.svc/acme/apps"),
	} {
		bySchema := name != "a registry that is an address" && name != "a registry that is a Service"
		attempts = append(attempts, Attempt{Name: name, Change: change, Mend: "ask the platform's admin", BySchema: bySchema})
	}
	slices.SortFunc(attempts, func(a, b Attempt) int { return strings.Compare(a.Name, b.Name) })
	return attempts
}
