package embedded

import (
	"context"
	"net/http"
	"path/filepath"

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
	path, err := programs.Own(ctx, helmControllerSource)
	if err != nil {
		return err
	}
	kubeconfig, err := c.layClusterAdmin(ctx, filepath.Join(c.Dir, helmController, "credentials"), FluxNamespace, HelmAccount)
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
