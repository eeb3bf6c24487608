package suites

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	// OperatorNamespace is where the operator runs.
	OperatorNamespace = "cozy-gitops"
	// OperatorName is its Deployment's name.
	OperatorName = "gitops-operator"
	// ControllersNamespace is where the tenants' controllers run.
	ControllersNamespace = "cozy-gitops-tenants"
	// ControllerMemory is the memory limit of a tenant's controller: twice what one
	// with little to do needs, so that a build outgrows it soon.
	ControllerMemory = "256Mi"
)

const operatorRepository = "gitops-operator.test/gitops-operator"

// root finds the repository that the tests are in.
func root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("find the repository: neither %s nor a folder above it has a go.mod", start)
}

// loadOperator builds the operator from this tree and loads an image of it, which is
// tagged by its content: another content is another Deployment.
func (s *Stage) loadOperator(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "suites-operator-")
	if err != nil {
		return fmt.Errorf("build the operator: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	top, err := root()
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, OperatorName)
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/gitops-operator")
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the operator: %w: %s", err, output)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("build the operator: %w", err)
	}
	sum := sha256.Sum256(content)
	s.image = operatorRepository + ":" + hex.EncodeToString(sum[:])[:16]
	return s.Cluster.LoadBinaryImage(ctx, s.image, binary, OperatorName)
}

// InstallOperator installs the operator, with the admin tier where the package's tests have
// it, and with more arguments if there are any, or changes the one that is installed; and
// waits until it runs.
func (s *Stage) InstallOperator(ctx context.Context, args ...string) error {
	if s.adminTier {
		return s.install(ctx, "customizer", args)
	}
	return s.InstallWithoutAdminTier(ctx, args...)
}

// InstallWithoutAdminTier is InstallOperator, and switches the admin tier off.
func (s *Stage) InstallWithoutAdminTier(ctx context.Context, args ...string) error {
	return s.install(ctx, "default", args)
}

// install applies a folder of config.
func (s *Stage) install(ctx context.Context, folder string, args []string) (err error) {
	dir, err := os.MkdirTemp("", "suites-install-")
	if err != nil {
		return fmt.Errorf("install the operator: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	text, err := s.overlay(dir, folder, args)
	if err != nil {
		return fmt.Errorf("install the operator: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("install the operator: %w", err)
	}
	if _, err := s.Kubectl(ctx, "apply", "--server-side", "-k", dir); err != nil {
		return fmt.Errorf("install the operator: %w", err)
	}
	return s.Cluster.AwaitDeployment(ctx, OperatorNamespace, OperatorName)
}

// overlay is a kustomization of a folder of config with the images that the node has.
func (s *Stage) overlay(dir, folder string, args []string) (string, error) {
	top, err := root()
	if err != nil {
		return "", err
	}
	// Kustomize takes relative paths only.
	base, err := filepath.Rel(dir, filepath.Join(top, "config", folder))
	if err != nil {
		return "", err
	}
	controller, err := kind.ProgramImage("kustomize-controller")
	if err != nil {
		return "", err
	}
	name, tag, _ := strings.Cut(s.image, ":")
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- %s\n", base)
	fmt.Fprintf(&text, "images:\n- name: cozystack/gitops-operator\n  newName: %s\n  newTag: %q\n", name, tag)
	fmt.Fprintf(&text, "patches:\n- target:\n    kind: Deployment\n    name: %s\n  patch: |-\n", OperatorName)
	// Of two equal flags the last one counts.
	for _, arg := range append([]string{"--controller-image=" + controller, "--controller-memory-limit=" + ControllerMemory}, args...) {
		fmt.Fprintf(&text, "    - op: add\n      path: /spec/template/spec/containers/0/args/-\n      value: %s\n", arg)
	}
	return text.String(), nil
}

// Kubectl runs kubectl as the cluster's administrator, and returns what it prints.
func (s *Stage) Kubectl(ctx context.Context, args ...string) (string, error) {
	kubectl, err := programs.Path(ctx, "kubectl")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Cluster.Kubeconfig)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", args[0], err, output)
	}
	return string(output), nil
}
