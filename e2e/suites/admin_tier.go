package suites

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// bootstrap is the Package that a platform was installed with. It makes no release.
const bootstrap = `
apiVersion: cozystack.io/v1alpha1
kind: PackageSource
metadata:
  name: cozystack.cozystack-platform
spec:
  variants:
  - name: default
    components:
    - {name: platform, path: platform}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.cozystack-platform
spec:
  variant: default
  components:
    platform:
      values:
        publishing: {host: old.example.org, apiServerEndpoint: "https://192.0.2.10:6443"}
`

// servePackages runs what makes releases of Packages, and lays in what an admin has before
// there is a Customizer: the bootstrap Package, and the git server's authority.
func (s *Stage) servePackages(ctx context.Context) error {
	if err := s.Cluster.RunPackageOperator(ctx); err != nil {
		return err
	}
	decoded, err := manifests.Decode([]byte(bootstrap))
	if err != nil {
		return err
	}
	for _, object := range decoded {
		if err := manifests.ApplyAs(ctx, s.Client, "kubectl", object); err != nil {
			return err
		}
	}
	return manifests.Apply(ctx, s.Client, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: gitopsv1.CustomizerNamespace, Name: harness.CASecret},
		Data:       map[string][]byte{"ca.crt": []byte(s.Git.CertificateAuthority)},
	})
}

// NewCustomizer is one that applies a new repository with these files, not made yet; and the
// repository, with its commit. If the test fails, what the cluster knows of what the Customizer
// stamped is printed.
func (s *Stage) NewCustomizer(t *testing.T, name string, files map[string]string) (customizer *gitopsv1.Customizer, repository *gitserver.Repository, commit string) {
	t.Helper()
	repository, commit = s.NewRepository(t, name, files)
	t.Cleanup(func() {
		if t.Failed() {
			s.describeTenant(t.Output(), gitopsv1.CustomizerNamespace)
		}
	})
	return harness.Customizer(name, repository), repository, commit
}
