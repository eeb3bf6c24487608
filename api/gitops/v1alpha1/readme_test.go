package v1alpha1_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestReadmeExampleIsAccepted applies the TenantGitOps of the README.
func TestReadmeExampleIsAccepted(t *testing.T) {
	// Another test has the namespace of the example.
	namespace := createNamespace(t, "tenant-readme")
	if err := applyStrictly(t, strings.ReplaceAll(readmeBlock(t, "accepted"), "tenant-acme", namespace)); err != nil {
		t.Errorf("the README's example is refused: %v", err)
	}
}

// TestReadmeInstallation renders the operator with the README's kustomization.yaml, in
// a folder beside config, and has the API server look at every object.
func TestReadmeInstallation(t *testing.T) {
	config, err := filepath.Abs("../../../config")
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "config"), os.DirFS(config)); err != nil {
		t.Fatal(err)
	}
	install := filepath.Join(tree, "install")
	if err := os.Mkdir(install, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(install, "kustomization.yaml"), []byte(readmeBlock(t, "overlay")), 0o644); err != nil {
		t.Fatal(err)
	}
	rendered, err := cluster.Kubectl(t.Context(), "kustomize", install)
	if err != nil {
		t.Fatal(err)
	}
	const image = "image: registry.example.org/acme/gitops-operator:v0.1.0"
	if named := strings.Count(rendered, " image: "); named == 0 || named != strings.Count(rendered, image) {
		t.Errorf("the rendered Deployments do not have %q alone:\n%s", image, rendered)
	}
	for _, namespace := range []string{"cozy-fluxcd", "cozy-gitops", "cozy-gitops-tenants"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if err := cluster.Client.Create(context.Background(), ns); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := cluster.Kubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "--force-conflicts", "-k", install); err != nil {
		t.Errorf("the API server refuses the installation: %v\n%s", err, output)
	}
}

// readmeBlock returns the YAML below a marker "<!-- test: name -->".
func readmeBlock(t *testing.T, name string) string {
	t.Helper()
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(readme), "<!-- test: "+name+" -->\n```yaml\n")
	block, _, closed := strings.Cut(after, "\n```")
	if !found || !closed {
		t.Fatalf("the README has no block marked %q", name)
	}
	return block
}
