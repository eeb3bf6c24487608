package suites

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// NewRepository makes a repository with one commit, and returns that too.
func (s *Stage) NewRepository(t *testing.T, name string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	repository, err := s.Git.NewRepository(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return repository, harness.Commit(t, repository, files)
}

// Source reads a public repository over HTTPS; the Secret with the server's authority
// is written beside it. The repository is asked for news as often as may be.
func (s *Stage) Source(t *testing.T, namespace, name string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	harness.WriteSecret(t, s.Client, namespace, harness.CASecret, map[string]string{"ca.crt": s.Git.CertificateAuthority})
	return gitopsv1.Source{
		Name: name,
		Git: &gitopsv1.GitSource{
			URL:       repository.HTTPSURL(),
			Ref:       &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			SecretRef: &meta.LocalObjectReference{Name: harness.CASecret},
			Interval:  metav1.Duration{Duration: 30 * time.Second},
		},
	}
}

// NewTenant makes a tenant. If the test fails, what the cluster knows of the tenant is
// printed before it is taken down.
func (s *Stage) NewTenant(t *testing.T, namespace string) {
	t.Helper()
	harness.NewTenant(t, s.Client, namespace)
	t.Cleanup(func() {
		if t.Failed() {
			s.describeTenant(t.Output(), namespace)
		}
	})
}

// Enable makes a tenant with one source, whose repository is named after the tenant and
// has these files. It does not wait.
func (s *Stage) Enable(t *testing.T, namespace string, files map[string]string, change func(*gitopsv1.Source)) (repository *gitserver.Repository, commit string) {
	t.Helper()
	s.NewTenant(t, namespace)
	repository, commit = s.NewRepository(t, namespace, files)
	source := s.Source(t, namespace, "apps", repository)
	if change != nil {
		change(&source)
	}
	harness.Write(t, s.Client, namespace, source)
	return repository, commit
}

// ControllerPod is the one pod of a tenant's controller.
func (s *Stage) ControllerPod(t *testing.T, namespace string) *corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	harness.Await(t, "the one pod of the controller of "+namespace, func(ctx context.Context) (bool, string) {
		if err := s.Client.List(ctx, pods, client.InNamespace(ControllersNamespace), client.MatchingLabels{stamp.TenantLabel: namespace}); err != nil {
			return false, err.Error()
		}
		return len(pods.Items) == 1 && pods.Items[0].Status.PodIP != "", fmt.Sprintf("%d pods", len(pods.Items))
	})
	return &pods.Items[0]
}
