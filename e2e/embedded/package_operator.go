package embedded

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/programs"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

const (
	packageOperator        = "packageoperator"
	packageOperatorFolder  = "e2e/standins/packageoperator"
	packageOperatorTimeout = time.Minute

	// PackageOperatorNamespace is where the platform's operator of packages lives.
	PackageOperatorNamespace = "cozy-system"
	// PackageOperatorAccount is whom the stand-in for it acts as there, as the platform's
	// own does.
	PackageOperatorAccount = "cozystack"
)

// StartPackageOperator starts the stand-in for the platform's operator of packages, or
// starts it again, and waits until it is up: the kinds Package, PackageSource and
// HelmRelease are served then. Its counts begin at zero.
func (c *Cluster) StartPackageOperator(ctx context.Context) error {
	c.StopPackageOperator()
	releases, err := HelmReleaseCRDs(ctx)
	if err != nil {
		return err
	}
	// On the platform it installs Flux as well.
	if err := manifests.ApplyPaths(ctx, c.Client, releases); err != nil {
		return err
	}
	path, err := programs.Own(ctx, packageOperatorFolder)
	if err != nil {
		return err
	}
	kubeconfig, err := c.layClusterAdmin(ctx, filepath.Join(c.Dir, packageOperator, "credentials"), PackageOperatorNamespace, PackageOperatorAccount)
	if err != nil {
		return err
	}
	var health int
	if err := freePorts(&health, &c.ports.packageOperator); err != nil {
		return err
	}
	p, err := c.startProgram(packageOperator, path, []string{"KUBECONFIG=" + kubeconfig},
		"--health-probe-bind-address="+loopback(health), "--metrics-bind-address="+loopback(c.ports.packageOperator),
		// Tests wait for what is tried again.
		"--helmrelease-retry-interval=1s",
	)
	if err != nil {
		return err
	}
	return p.awaitReady(ctx, packageOperatorTimeout, func(ctx context.Context) error {
		return getOK(ctx, http.DefaultClient, "http://"+loopback(health)+"/readyz")
	})
}

// StopPackageOperator ends the stand-in at once, as a crash would; nothing else comes of
// it where none runs.
func (c *Cluster) StopPackageOperator() {
	if p := c.process(packageOperator); p != nil {
		p.kill()
	}
}

// PackageOperatorCounts are the reconciliations and writes since the stand-in started.
func (c *Cluster) PackageOperatorCounts(ctx context.Context) (counts.Report, error) {
	var report counts.Report
	if err := getJSON(ctx, http.DefaultClient, "http://"+loopback(c.ports.packageOperator)+counts.Path, &report); err != nil {
		return report, fmt.Errorf("read the counts of the package operator: %w", err)
	}
	return report, nil
}
