package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	standIns = "e2e/standins/"

	helmReleaseGroup   = "helm-controller"
	helmReleasePackage = "github.com/fluxcd/helm-controller/api/v2"
)

// loadStandIn builds a stand-in from its folder and loads an image of it, which is
// tagged by its content: another content is another Deployment.
func (c *Cluster) loadStandIn(ctx context.Context, folder string) (image string, err error) {
	binary, err := programs.Own(ctx, standIns+folder)
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return "", fmt.Errorf("load %s: %w", folder, err)
	}
	sum := sha256.Sum256(content)
	image = imageRegistry + "/" + path.Base(folder) + ":" + hex.EncodeToString(sum[:])[:16]
	return image, c.LoadBinaryImage(ctx, image, binary, path.Base(folder))
}

// ServeHelmReleases lays in the kind HelmRelease, which the platform has.
func (c *Cluster) ServeHelmReleases(ctx context.Context) error {
	folder, err := programs.CRDs(ctx, helmReleaseGroup, helmReleasePackage)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("read the CRD of HelmReleases: none in %s", folder)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the CRD of HelmReleases: %w", err)
		}
		if err := c.Apply(ctx, string(text)); err != nil {
			return err
		}
	}
	return c.awaitDefinitions(ctx)
}

// RunHelmController runs the stand-in for helm-controller as a pod, with its built-in
// chart for every release. Where applications are custom resources, mirrorApplications
// has it make their HelmReleases too.
func (c *Cluster) RunHelmController(ctx context.Context, mirrorApplications bool) error {
	image, err := c.loadStandIn(ctx, "helmcontroller")
	if err != nil {
		return err
	}
	text, err := render("helm-controller.yaml", map[string]any{"Image": image, "MirrorApplications": mirrorApplications})
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, text); err != nil {
		return err
	}
	return c.AwaitDeployment(ctx, FluxNamespace, "helm-controller")
}

// RunPackageOperator runs the stand-in for the platform's operator of packages as a pod.
// HelmReleases must be served by then.
func (c *Cluster) RunPackageOperator(ctx context.Context) error {
	image, err := c.loadStandIn(ctx, "packageoperator")
	if err != nil {
		return err
	}
	text, err := render("package-operator.yaml", map[string]any{"Image": image})
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, text); err != nil {
		return err
	}
	return c.AwaitDeployment(ctx, "cozy-system", "cozystack-operator")
}
