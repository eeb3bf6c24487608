package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// Flavour says how the platform's own Flux runs in the cluster.
type Flavour string

const (
	// FluxInPods is one pod for each controller, in the pod network.
	FluxInPods Flavour = "pods"
	// FluxOnHostNetwork is one pod with all controllers on the host network, as a stock
	// Cozystack has it.
	FluxOnHostNetwork Flavour = "hostnetwork"
)

// FluxNamespace is where the platform's Flux runs.
const FluxNamespace = "cozy-fluxcd"

// fluxDeployments are the Deployments of a flavour.
func (f Flavour) fluxDeployments() []string {
	if f == FluxOnHostNetwork {
		return []string{"flux"}
	}
	return []string{"source-controller", "kustomize-controller"}
}

func (f Flavour) manifest() (string, error) {
	switch f {
	case FluxInPods:
		return "flux-in-pods.yaml", nil
	case FluxOnHostNetwork:
		return "flux-on-host-network.yaml", nil
	}
	return "", fmt.Errorf("install Flux: unknown flavour %q, want %q or %q", f, FluxInPods, FluxOnHostNetwork)
}

// installFlux loads the controllers' images, applies their CRDs and Deployments, and waits
// until they are ready.
func (c *Cluster) installFlux(ctx context.Context, flavour Flavour) error {
	manifest, err := flavour.manifest()
	if err != nil {
		return err
	}
	images := map[string]string{}
	for field, program := range map[string]string{"SourceController": "source-controller", "KustomizeController": "kustomize-controller"} {
		if images[field], err = c.LoadProgramImage(ctx, program); err != nil {
			return err
		}
	}
	definitions, err := fluxDefinitions(ctx)
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, definitions...); err != nil {
		return err
	}
	if err := c.awaitDefinitions(ctx); err != nil {
		return err
	}
	for _, name := range []string{"flux-account.yaml", manifest} {
		text, err := render(name, images)
		if err != nil {
			return err
		}
		if err := c.Apply(ctx, text); err != nil {
			return err
		}
	}
	for _, name := range flavour.fluxDeployments() {
		if err := c.AwaitDeployment(ctx, FluxNamespace, name); err != nil {
			return err
		}
	}
	return nil
}

// fluxDefinitions reads the CRDs of the controllers out of their modules.
func fluxDefinitions(ctx context.Context) ([]string, error) {
	var definitions []string
	for _, program := range []string{"source-controller", "kustomize-controller"} {
		dir, err := programs.ModuleDir(ctx, program, "github.com/fluxcd/"+program)
		if err != nil {
			return nil, err
		}
		files, err := filepath.Glob(filepath.Join(dir, "config", "crd", "bases", "*.yaml"))
		if err != nil || len(files) == 0 {
			return nil, fmt.Errorf("read CRDs of %s: none in %s", program, dir)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read CRDs of %s: %w", program, err)
			}
			definitions = append(definitions, string(text))
		}
	}
	return definitions, nil
}

// installDNS installs CoreDNS, which our own node image has but kubeadm does not know.
func (c *Cluster) installDNS(ctx context.Context) error {
	image, err := programImageName("coredns")
	if err != nil {
		return err
	}
	text, err := render("coredns.yaml", map[string]string{"Image": image})
	if err != nil {
		return err
	}
	return c.Apply(ctx, text)
}
