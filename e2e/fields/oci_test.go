package fields_test

import (
	"strings"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	registryLogin     = "registry-login.gitops"
	registryAuthority = "registry-ca.gitops"
)

// fromOCI is a source that reads a repository of the registry once a day, with Secrets
// for login and authority.
func fromOCI(registry *ociRegistry, name, repository string, ref *sourcev1.OCIRepositoryRef) gitopsv1.Source {
	return gitopsv1.Source{
		Name: name, Interval: day,
		OCI: &gitopsv1.OCISource{
			URL: registry.address(repository), Ref: ref, Interval: day,
			SecretRef: secretRef(registryLogin), CertSecretRef: secretRef(registryAuthority),
		},
	}
}

// TestOCI pulls artifacts by each kind of reference, and layers of them.
func TestOCI(t *testing.T) {
	namespace := newTenant(t, "tenant-oci")
	registry := startRegistry(t, "acme-robot", "the-registry-password-1")
	writeRegistrySecrets(t, namespace, registry, "the-registry-password-1")
	one := func(name string) layer {
		return layer{artifactContent, map[string]string{"app.yaml": fixtures.Redis(name, 1), "drafts/draft.yaml": fixtures.Redis(name+"-draft", 1)}}
	}
	const special = "application/vnd.acme.apps.v1.tar+gzip"
	digests := map[string]string{
		"latest":    registry.push(t, "acme/apps", "latest", one("latest")),
		"stable":    registry.push(t, "acme/apps", "stable", one("stable")),
		"1-0":       registry.push(t, "acme/apps", "1.0.0", one("one-zero")),
		"1-1":       registry.push(t, "acme/apps", "1.1.0", one("one-one")),
		"1-2":       registry.push(t, "acme/apps", "1.2.0-rc.1", one("one-two")),
		"2-0":       registry.push(t, "acme/apps", "2.0.0", one("two-zero")),
		"by-digest": registry.push(t, "acme/apps", "moved", one("by-digest")),
		"layers": registry.push(t, "acme/layers", "latest",
			layer{artifactContent, map[string]string{"app.yaml": fixtures.Redis("first-layer", 1)}},
			layer{special, map[string]string{"app.yaml": fixtures.Redis("second-layer", 1)}}),
	}
	registry.push(t, "acme/apps", "moved", one("moved"))

	cases := []struct {
		source, repository string
		ref                *sourcev1.OCIRepositoryRef
		digest, app        string
	}{
		{"no-ref", "acme/apps", nil, "latest", "latest"},
		{"tag", "acme/apps", &sourcev1.OCIRepositoryRef{Tag: "stable"}, "stable", "stable"},
		{"semver", "acme/apps", &sourcev1.OCIRepositoryRef{SemVer: "1.x"}, "1-1", "one-one"},
		{"semver-filter", "acme/apps", &sourcev1.OCIRepositoryRef{SemVer: ">=1.0.0-0 <2.0.0", SemverFilter: ".*-rc.*"}, "1-2", "one-two"},
		{"digest", "acme/apps", &sourcev1.OCIRepositoryRef{Digest: digests["by-digest"]}, "by-digest", "by-digest"},
		{"first-layer", "acme/layers", nil, "layers", "first-layer"},
		{"second-layer", "acme/layers", nil, "layers", "second-layer"},
	}
	var sources []gitopsv1.Source
	for _, tc := range cases {
		source := fromOCI(registry, tc.source, tc.repository, tc.ref)
		source.OCI.Ignore = pointer("drafts/\n")
		if tc.source == "second-layer" {
			source.OCI.LayerSelector = &sourcev1.OCILayerSelector{MediaType: special, Operation: sourcev1.OCILayerCopy}
		}
		sources = append(sources, source)
	}
	write(t, namespace, sources...)
	for _, tc := range cases {
		t.Run(tc.source, func(t *testing.T) {
			status := awaitSourceApplied(t, namespace, tc.source, digests[tc.digest])
			if status.Applications != 1 {
				t.Errorf("%d applications are applied, want 1: what is ignored must not be", status.Applications)
			}
			application(t, "Redis", namespace, tc.app)
		})
	}
}

// TestOCICredentials is TestPasswordForHTTPS for a registry.
func TestOCICredentials(t *testing.T) {
	namespace := newTenant(t, "tenant-ocilogin")
	const wrong, first, second = "wr0ng-viola-3a7", "f1rst-cello-8b2", "s3cond-harp-6d4"
	registry := startRegistry(t, "acme-robot", first)
	push := func(replicas int) string {
		return registry.push(t, "acme/apps", "latest", layer{artifactContent, map[string]string{"app.yaml": fixtures.Redis("app", replicas)}})
	}
	digest := push(1)
	write(t, namespace, fromOCI(registry, "apps", "acme/apps", nil))

	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound)
	harness.WriteSecret(t, cluster.Client, namespace, registryLogin, map[string]string{"username": "acme-robot"})
	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretInvalid)
	if !strings.Contains(status.Message, registryLogin) || !strings.Contains(status.Message, ".dockerconfigjson") {
		t.Errorf("the message names neither Secret nor key: %s", status.Message)
	}
	if err := cluster.Client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registryLogin}}); err != nil {
		t.Fatal(err)
	}
	writeRegistrySecrets(t, namespace, registry, wrong)
	refused := awaitSource(t, namespace, "apps", metav1.ConditionFalse, "OCIArtifactPullFailed")
	if !strings.Contains(refused.Message, registryLogin) {
		t.Errorf("the message does not name the Secret: %s", refused.Message)
	}
	writeRegistrySecrets(t, namespace, registry, first)
	awaitSourceApplied(t, namespace, "apps", digest)

	digest = push(2)
	registry.setPassword(second)
	writeRegistrySecrets(t, namespace, registry, second)
	awaitSourceApplied(t, namespace, "apps", digest)
	wantSpec(t, application(t, "Redis", namespace, "app"), "replicas", "2")
	wantUnread(t, namespace, wrong, first, second)
}

// writeRegistrySecrets writes login and authority of a registry.
func writeRegistrySecrets(t *testing.T, namespace string, registry *ociRegistry, password string) {
	t.Helper()
	harness.WriteSecret(t, cluster.Client, namespace, registryAuthority, map[string]string{"ca.crt": registry.authority})
	login := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: registryLogin},
		Type:       corev1.SecretTypeDockerConfigJson,
		StringData: map[string]string{corev1.DockerConfigJsonKey: registry.login(password)},
	}
	err := cluster.Client.Create(t.Context(), login)
	if err != nil && client.IgnoreAlreadyExists(err) == nil {
		err = cluster.Client.Update(t.Context(), login)
	}
	if err != nil {
		t.Fatal(err)
	}
}
