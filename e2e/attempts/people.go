package attempts

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// FluxForAdmins is what a platform may add to its tenants' admins: the policies have to
// hold people who write Flux's kinds by hand.
func FluxForAdmins() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name:   "flux-for-tenant-admins",
			Labels: map[string]string{"rbac.cozystack.io/aggregate-to-tenant-admin": "true"},
		},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"kustomize.toolkit.fluxcd.io", "source.toolkit.fluxcd.io", gitopsv1.GroupVersion.Group},
			Resources: []string{"kustomizations", "gitrepositories", "ocirepositories", "tenantgitops"},
			Verbs:     []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		}},
	}
}
