package examples

import (
	"encoding/base64"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

const (
	// BootstrapPackage is there before any repository is: who applies the admin's example makes
	// it first, with what a platform was installed with.
	BootstrapPackage = "cozystack.cozystack-platform"
	// OwnedNamespace is the one that the admin's repository has for itself.
	OwnedNamespace = "acme-platform"
	// Token is what the encrypted Secret of the admin's repository holds.
	Token = "example-token-of-the-pager"

	username = "git"
	password = "of-the-admins-repository" //nolint:gosec // G101: asked for by a test's git server.
)

// Admin is the admin's repository on a test's git server.
type Admin struct {
	Repository *gitserver.Repository
	// Commit is the only one that it has.
	Commit string
	// Customizer is that of the environment, as it is written in the example, but that it leads
	// to the git server.
	Customizer *gitopsv1.Customizer
	// Secrets are those that it names, in cozy-system: how to read the repository, and the age
	// identity.
	Secrets []*corev1.Secret
	// Wanted are all objects that it comes to.
	Wanted []Wanted
}

// IdentityFile has the age identity that the admin's Secret is encrypted for.
func IdentityFile(root string) string {
	return filepath.Join(root, "e2e", "examples", "testdata", "example.agekey")
}

// AdminCustomizer is the Customizer of an environment, as it is written in the example.
func AdminCustomizer(t *testing.T, root, environment string) *gitopsv1.Customizer {
	t.Helper()
	customizer := &gitopsv1.Customizer{}
	read(t, filepath.Join(AdminDir(root), "overlays", environment, "customizer.yaml"), customizer)
	return customizer
}

// PushAdmin pushes the admin's repository, which asks for a password, for the Customizer of an
// environment.
func PushAdmin(t *testing.T, server *gitserver.Server, root, environment string) *Admin {
	t.Helper()
	repository, commit := push(t, server, "acme/platform-"+environment, AdminDir(root))
	if err := repository.SetAccess(t.Context(), gitserver.Access{Username: username, Password: password}); err != nil {
		t.Fatal(err)
	}
	customizer := AdminCustomizer(t, root, environment)
	customizer.Spec.Source.Git.URL = repository.HTTPSURL()
	return &Admin{
		Repository: repository, Commit: commit, Customizer: customizer,
		Secrets: []*corev1.Secret{
			secret(customizer.Spec.Source.Git.SecretRef.Name, map[string]string{
				"username": username, "password": password, "ca.crt": server.CertificateAuthority,
			}),
			secret(customizer.Spec.Kustomization.Decryption.SecretRef.Name, map[string]string{
				"acme.agekey": Files(t, filepath.Dir(IdentityFile(root)))[filepath.Base(IdentityFile(root))],
			}),
		},
		Wanted: AdminWanted(environment),
	}
}

func secret(name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: gitopsv1.CustomizerNamespace, Name: name}, StringData: data}
}

// AdminWanted are the objects that the overlay of an environment comes to.
func AdminWanted(environment string) []Wanted {
	host, grafanas, ingresses, copies := "acme.example.org", 2, 3, "3"
	if environment == Staging {
		host, grafanas, ingresses, copies = "staging.acme.example.org", 1, 2, "1"
	}
	const platform = "cozystack.io/v1alpha1"
	grafana := func(path ...string) []string { return append([]string{"spec", "components", "grafana"}, path...) }
	ingress := func(path ...string) []string {
		return append([]string{"spec", "components", "ingress-nginx", "values", "controller"}, path...)
	}
	return []Wanted{
		wanted(platform, "Package", "", BootstrapPackage,
			at("Merge", "metadata", "annotations", "kustomize.toolkit.fluxcd.io/ssa"),
			at(host, "spec", "components", "platform", "values", "publishing", "host")),
		wanted(platform, "PackageValues", "", "cozystack.monitoring",
			at(grafanas, grafana("values", "replicas")...),
			at("grafana."+host, grafana("values", "ingress", "host")...),
			at("[map[name:GF_LOG_LEVEL value:warn]]", grafana("values", "extraEnv")...),
			at("[resources.limits.cpu]", grafana("unset")...)),
		wanted(platform, "PackageValues", "", "cozystack.ingress",
			at(ingresses, ingress("replicaCount")...),
			at("100m", ingress("config", "proxy-body-size")...)),
		wanted("storage.k8s.io/v1", "StorageClass", "", "acme-replicated",
			at("csi.example.org", "provisioner"), at(copies, "parameters", "replicas")),
		wanted("scheduling.k8s.io/v1", "PriorityClass", "", "acme-platform", at(100000, "value")),
		wanted("v1", "ConfigMap", OwnedNamespace, "contacts",
			at(environment, "data", "environment"), at("platform@example.org", "data", "mail")),
		wanted("networking.k8s.io/v1", "NetworkPolicy", OwnedNamespace, "closed", at("[Ingress]", "spec", "policyTypes")),
		wanted("v1", "Secret", OwnedNamespace, "pager", at(base64.StdEncoding.EncodeToString([]byte(Token)), "data", "token")),
	}
}
