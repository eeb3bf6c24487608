package embedded

import (
	"context"
	"net/http"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	helmController = "helmcontroller"
	// helmControllerSource is the folder of its source: a module of its own, so that
	// nothing else comes to depend on Helm.
	helmControllerSource = "e2e/standins/helmcontroller"
	// HelmAccount is whom the stand-in for helm-controller acts as, in FluxNamespace;
	// the platform's own is the same account of all Flux controllers.
	HelmAccount = "flux"
)

// ChartsDir is the folder of the charts of HelmReleases: a folder for each source that
// a HelmRelease names, called as the source. An empty folder is a source without an
// artifact; a source without a folder has a chart of one ConfigMap, which fails with
// the text of the value "fail", and is not ready with the value "notReady".
func (c *Cluster) ChartsDir() string { return filepath.Join(c.Dir, "charts") }

// startHelmController runs the stand-in for helm-controller. Where applications are
// custom resources it makes their HelmReleases too.
func (c *Cluster) startHelmController(ctx context.Context) error {
	if err := c.layHelmAccount(ctx); err != nil {
		return err
	}
	path, err := programs.Own(ctx, helmControllerSource)
	if err != nil {
		return err
	}
	token, err := c.mintToken(ctx, FluxNamespace, HelmAccount, nil)
	if err != nil {
		return err
	}
	dir := filepath.Join(c.Dir, helmController)
	kubeconfig, err := c.writeTokenKubeconfig(filepath.Join(dir, "credentials"), FluxNamespace, token.Token)
	if err != nil {
		return err
	}
	if err := makeDir(c.ChartsDir()); err != nil {
		return err
	}
	health, err := FreePort()
	if err != nil {
		return err
	}
	args := []string{
		"--charts=" + c.ChartsDir(), "--health-addr=" + loopback(health),
		// Tests wait for what it looks at again.
		"--requeue-dependency=1s", "--max-retry-delay=5s",
	}
	if c.options.Applications == CRDApplications {
		args = append(args, "--mirror-applications")
	}
	p, err := c.startProgram(helmController, path, []string{"KUBECONFIG=" + kubeconfig}, args...)
	if err != nil {
		return err
	}
	return p.awaitReady(ctx, fluxTimeout, func(ctx context.Context) error {
		return getOK(ctx, http.DefaultClient, "http://"+loopback(health)+"/readyz")
	})
}

// layHelmAccount makes the account, cluster-admin as on the platform.
func (c *Cluster) layHelmAccount(ctx context.Context) error {
	return manifests.Apply(ctx, c.Client,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: FluxNamespace, Labels: map[string]string{"cozystack.io/system": "true"},
		}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: FluxNamespace, Name: HelmAccount}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: FluxNamespace + "-" + HelmAccount},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: FluxNamespace, Name: HelmAccount}},
		},
	)
}
