package embedded

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// layClusterAdmin makes a service account of the platform's that is cluster-admin, in a
// system namespace, and writes its kubeconfig into a folder.
func (c *Cluster) layClusterAdmin(ctx context.Context, dir, namespace, account string) (kubeconfig string, err error) {
	err = manifests.Apply(ctx, c.Client,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: namespace, Labels: map[string]string{"cozystack.io/system": "true"},
		}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace + "-" + account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
		},
	)
	if err != nil {
		return "", err
	}
	token, err := c.mintToken(ctx, namespace, account, nil)
	if err != nil {
		return "", err
	}
	return c.writeTokenKubeconfig(dir, namespace, token.Token)
}
