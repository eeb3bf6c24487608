package tenantgitops

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// TestLastWritten reads through caches that are behind, even and ahead.
func TestLastWritten(t *testing.T) {
	version := func(uid, resourceVersion string) *gitopsv1.TenantGitOps {
		tenant := &gitopsv1.TenantGitOps{}
		tenant.Namespace, tenant.Name = "tenant-acme", gitopsv1.TenantGitOpsName
		tenant.UID, tenant.ResourceVersion = "uid", resourceVersion
		if uid != "" {
			tenant.UID = "another"
		}
		return tenant
	}
	var written lastWritten
	if got := written.Newer(version("", "9")); got.ResourceVersion != "9" {
		t.Errorf("with nothing remembered, the version is %s", got.ResourceVersion)
	}
	written.Remember(version("", "10"))
	for _, tc := range []struct{ uid, cached, want string }{
		{"", "9", "10"}, {"", "10", "10"}, {"", "11", "11"}, {"another", "9", "9"},
	} {
		if got := written.Newer(version(tc.uid, tc.cached)); got.ResourceVersion != tc.want {
			t.Errorf("cached %s %s: the version is %s, want %s", tc.uid, tc.cached, got.ResourceVersion, tc.want)
		}
	}
	written.Forget(client.ObjectKey{Namespace: "tenant-acme", Name: gitopsv1.TenantGitOpsName})
	if got := written.Newer(version("", "9")); got.ResourceVersion != "9" {
		t.Errorf("with all forgotten, the version is %s", got.ResourceVersion)
	}
}
