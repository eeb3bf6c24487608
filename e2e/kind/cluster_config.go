package kind

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/cozystack/gitops-operator/e2e/kind/capability"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

// manifestFiles are what is applied to a cluster and the configuration it is made by.
//
//go:embed manifests/*.yaml
var manifestFiles embed.FS

// clusterConfig is kind's configuration for this machine.
func clusterConfig(ctx context.Context, docker dockerClient) (string, error) {
	missing, err := capability.Missing()
	if err != nil {
		return "", err
	}
	cgroupV1, err := docker.usesCgroupV1(ctx)
	if err != nil {
		return "", fmt.Errorf("configure the cluster: %w", err)
	}
	return render("cluster.yaml", map[string]any{
		"OwnNodeImage":     os.Getenv("NODE_IMAGE") == "",
		"CgroupV1":         cgroupV1,
		"LacksSysResource": missing[capability.SysResource],
	})
}

// render fills in a file of the folder manifests.
func render(name string, values any) (string, error) {
	text, err := manifestFiles.ReadFile("manifests/" + name)
	if err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	parsed, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	var rendered strings.Builder
	if err := parsed.Execute(&rendered, values); err != nil {
		return "", fmt.Errorf("render %s: %w", name, err)
	}
	return rendered.String(), nil
}

// clusterInputs names all that a cluster is made of.
func clusterInputs(image, config string, flavour Flavour) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, image, config, flavour)
	entries, err := manifestFiles.ReadDir("manifests")
	if err != nil {
		return "", fmt.Errorf("name the cluster's inputs: %w", err)
	}
	for _, entry := range entries {
		content, err := manifestFiles.ReadFile("manifests/" + entry.Name())
		if err != nil {
			return "", fmt.Errorf("name the cluster's inputs: %w", err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", entry.Name(), len(content), content)
	}
	for _, program := range []string{"source-controller", "kustomize-controller"} {
		version, err := programs.Version(program)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(sum, program, version)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (c *Cluster) inputsFile() string { return filepath.Join(filepath.Dir(c.Kubeconfig), "inputs") }

// remember notes what the cluster was made of, once it is complete.
func (c *Cluster) remember(inputs string) error {
	if err := os.WriteFile(c.inputsFile(), []byte(inputs), 0o644); err != nil {
		return fmt.Errorf("note the inputs of cluster %s: %w", c.Name, err)
	}
	return nil
}

// runsWith tells whether the cluster runs and was made of these inputs, and connects to it.
func (c *Cluster) runsWith(ctx context.Context, inputs string) bool {
	made, err := os.ReadFile(c.inputsFile())
	if err != nil || string(made) != inputs {
		return false
	}
	running, err := output(c.docker.command(ctx, "inspect", "--format", "{{.State.Running}}", c.node))
	if err != nil || strings.TrimSpace(running) != "true" {
		return false
	}
	return c.connect(ctx) == nil && c.nodeIsReady(ctx)
}
