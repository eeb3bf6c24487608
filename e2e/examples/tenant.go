package examples

import (
	"path/filepath"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// TenantNamespace is the tenant's own, and that of production.
	TenantNamespace = "tenant-acme"
	// StagingNamespace is that of the tenant below it.
	StagingNamespace = "tenant-acme-staging"
)

// Tenant is the tenant's repository on a test's git server.
type Tenant struct {
	Repository *gitserver.Repository
	// Commit is the only one that it has.
	Commit string
	// TenantGitOps is as it is written in the example, but that it leads to the git server.
	TenantGitOps *gitopsv1.TenantGitOps
	// Authority is the Secret that it then names, with the git server's authority.
	Authority *corev1.Secret
	// Wanted are all applications that it comes to, in both namespaces.
	Wanted []Wanted
}

// TenantObject is the example's TenantGitOps as it is written there.
func TenantObject(t *testing.T, root string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	read(t, filepath.Join(TenantDir(root), "tenantgitops.yaml"), tenant)
	return tenant
}

// PushTenant pushes the tenant's repository.
func PushTenant(t *testing.T, server *gitserver.Server, root string) *Tenant {
	t.Helper()
	repository, commit := push(t, server, "acme/apps", TenantDir(root))
	tenant := TenantObject(t, root)
	for i := range tenant.Spec.Sources {
		git := tenant.Spec.Sources[i].Git
		git.URL, git.SecretRef = repository.HTTPSURL(), &meta.LocalObjectReference{Name: harness.CASecret}
	}
	return &Tenant{
		Repository: repository, Commit: commit, TenantGitOps: tenant,
		Authority: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: tenant.Namespace, Name: harness.CASecret},
			StringData: map[string]string{"ca.crt": server.CertificateAuthority},
		},
		Wanted: append(TenantWanted(Production), TenantWanted(Staging)...),
	}
}

// TenantWanted are the applications that the overlay of an environment comes to.
func TenantWanted(environment string) []Wanted {
	application := func(kind, name string, fields ...field) Wanted {
		namespace := TenantNamespace
		if environment == Staging {
			namespace = StagingNamespace
		}
		return wanted(fixtures.Group+"/"+fixtures.Version, kind, namespace, name, fields...)
	}
	if environment == Staging {
		return []Wanted{
			application("Postgres", "orders", at(1, "spec", "replicas"), at("10Gi", "spec", "size")),
			application("Redis", "sessions", at(1, "spec", "replicas"), at("1Gi", "spec", "size")),
		}
	}
	return []Wanted{
		application("Postgres", "orders",
			at(3, "spec", "replicas"), at("50Gi", "spec", "size"), at("2", "spec", "resources", "cpu"), at("4Gi", "spec", "resources", "memory")),
		application("Redis", "sessions", at(3, "spec", "replicas"), at("1Gi", "spec", "size")),
		application("Bucket", "exports"),
	}
}
