package isolation_test

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/attempts"
)

func TestGitRepositoriesOfATenant(t *testing.T) {
	const namespace = "tenant-git"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	tryAll(t, person, attempts.GitRepository(namespace), append(attempts.GitRepositories(), attempts.Hosts("spec.url", "https")...))
}

func TestOCIRepositoriesOfATenant(t *testing.T) {
	const namespace = "tenant-oci"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	tryAll(t, person, attempts.OCIRepository(namespace), append(attempts.OCIRepositories(), attempts.Hosts("spec.url", "oci")...))
}

func TestGoodSourcesPass(t *testing.T) {
	const namespace = "tenant-goodsources"
	person := newTenantAdmin(t, namespace)
	shared := map[string]attempts.Change{
		"a Secret of its own": attempts.Field("spec.secretRef", attempts.Named("login.gitops")),
		"the bounds":          func(o *object) { attempts.Set(o, "30s", "spec", "interval"); attempts.Set(o, "5m", "spec", "timeout") },
		"Flux's finalizer":    attempts.WithFinalizer("finalizers.fluxcd.io"),
		"said to be generic":  attempts.Field("spec.provider", "generic"),
	}
	passAll(t, person, attempts.GitRepository(namespace), shared)
	passAll(t, person, attempts.OCIRepository(namespace), shared)
	urls := map[string]attempts.Change{}
	for _, url := range []string{
		"https://github.com/acme/apps", "https://git.example.org:8443/apps.git", "ssh://git@git.example.org/acme/apps",
		"ssh://git@git.example.org:2222/acme/apps", "https://xn--bcher-kva.example/apps", "https://GIT.example.org/apps",
	} {
		urls[url] = attempts.Field("spec.url", url)
	}
	passAll(t, person, attempts.GitRepository(namespace), urls)
}
