package isolation_test

import (
	"slices"
	"testing"
)

// fetchEscapes are those that both kinds of source have.
func fetchEscapes() []attempt {
	return []attempt{
		{name: "a Secret of the platform", change: field("spec.secretRef", secretNamed("cozystack-values")), mend: "<something>.gitops"},
		{name: "a proxy", change: field("spec.proxySecretRef", secretNamed("proxy.gitops")), mend: "remove it"},
		{name: "fetched too often", change: field("spec.interval", "1s"), mend: "at least 30s"},
		{name: "fetched too long", change: field("spec.timeout", "59m"), mend: "at most 5m"},
		{name: "a shard label", change: label(shardLabel, "nobody"), mend: "remove the label"},
		{name: "a foreign finalizer", change: withFinalizer("example.org/for-ever"), mend: "remove the others"},
	}
}

func gitEscapes() []attempt {
	return append(fetchEscapes(),
		attempt{name: "the platform's cloud account", change: field("spec.provider", "azure"), mend: "must be generic"},
		attempt{name: "another source inside", change: field("spec.include", []any{
			map[string]any{"repository": secretNamed("other")},
		}), mend: "spec.include"},
		attempt{name: "submodules", change: field("spec.recurseSubmodules", true), mend: "remove it"},
		attempt{name: "verified with a foreign Secret", change: field("spec.verify", map[string]any{
			"mode": "HEAD", "secretRef": secretNamed("keys"),
		}), mend: "<something>.gitops"},
	)
}

func ociEscapes() []attempt {
	return append(fetchEscapes(),
		attempt{name: "the platform's cloud account", change: field("spec.provider", "aws"), mend: "must be generic"},
		attempt{name: "a service account", change: field("spec.serviceAccountName", "default"), mend: "secretRef instead"},
		attempt{name: "a foreign certificate", change: field("spec.certSecretRef", secretNamed("tls")), mend: "<something>.gitops"},
		attempt{name: "verified with a foreign Secret", change: field("spec.verify", map[string]any{
			"provider": "cosign", "secretRef": secretNamed("keys"),
		}), mend: "<something>.gitops"},
		attempt{name: "plain HTTP", change: field("spec.insecure", true), mend: "over TLS"},
	)
}

func TestGitRepositoriesOfATenant(t *testing.T) {
	const namespace = "tenant-git"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	tryAll(t, person, goodGitRepository(namespace), append(gitEscapes(), hostEscapes("spec.url", "https")...))
}

func TestOCIRepositoriesOfATenant(t *testing.T) {
	const namespace = "tenant-oci"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	tryAll(t, person, goodOCIRepository(namespace), append(ociEscapes(), hostEscapes("spec.url", "oci")...))
}

func TestGoodSourcesPass(t *testing.T) {
	const namespace = "tenant-goodsources"
	person := newTenantAdmin(t, namespace)
	shared := map[string]change{
		"a Secret of its own": field("spec.secretRef", secretNamed("login.gitops")),
		"the bounds":          func(o *object) { set(o, "30s", "spec", "interval"); set(o, "5m", "spec", "timeout") },
		"Flux's finalizer":    withFinalizer("finalizers.fluxcd.io"),
		"said to be generic":  field("spec.provider", "generic"),
	}
	passAll(t, person, goodGitRepository(namespace), shared)
	passAll(t, person, goodOCIRepository(namespace), shared)
	urls := map[string]change{}
	for _, url := range []string{
		"https://github.com/acme/apps", "https://git.example.org:8443/apps.git", "ssh://git@git.example.org/acme/apps",
		"ssh://git@git.example.org:2222/acme/apps", "https://xn--bcher-kva.example/apps", "https://GIT.example.org/apps",
	} {
		urls[url] = field("spec.url", url)
	}
	passAll(t, person, goodGitRepository(namespace), urls)
}

// hostEscapes are the spellings of hosts inside, in a field that holds a URL.
func hostEscapes(path, scheme string) []attempt {
	var attempts []attempt
	for _, host := range slices.Concat(addresses, internalNames) {
		attempts = append(attempts, attempt{name: host, change: field(path, scheme+"://"+host+"/acme/apps"), mend: "ask the platform's admin"})
	}
	for _, host := range foldedAddresses {
		attempts = append(attempts, attempt{name: host, change: field(path, scheme+"://"+host+"/acme/apps"), mend: "must start with"})
	}
	for _, url := range []string{
		"http://git.example.org/acme/apps", "file:///etc", "git@git.example.org:acme/apps", "/etc/passwd",
		"HTTPS://git.example.org/acme/apps", "git://git.example.org/acme/apps",
	} {
		attempts = append(attempts, attempt{name: url, change: field(path, url), mend: "must start with", bySchema: true})
	}
	return append(attempts, attempt{
		name: "credentials in the URL", change: field(path, scheme+"://user:word@git.example.org/acme/apps"), mend: "must not hold credentials",
	}, attempt{
		name: "a user in the URL", change: field(path, scheme+"://git.example.org@127.0.0.1/acme/apps"), mend: "must not hold credentials",
	})
}
