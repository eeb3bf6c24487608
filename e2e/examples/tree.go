package examples

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/fluxcd/pkg/kustomize"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// The environments that both examples have an overlay for.
const (
	Production = "production"
	Staging    = "staging"
)

// Environments are all of them.
var Environments = []string{Production, Staging}

// AdminDir is the admin's repository; root leads to this project's.
func AdminDir(root string) string { return filepath.Join(root, "examples", "admin-repo") }

// TenantDir is the tenant's repository; root leads to this project's.
func TenantDir(root string) string { return filepath.Join(root, "examples", "tenant-repo") }

// Files are all files of a folder, with their content, by the path from there.
func Files(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, disk := map[string]string{}, os.DirFS(dir)
	err := fs.WalkDir(disk, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(disk, path)
		files[path] = string(content)
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("cannot read the %d files of %s: %v", len(files), dir, err)
	}
	return files
}

// Copy copies a folder into one that goes with the test.
func Copy(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// Build is what the overlay of an environment comes to, in a repository.
func Build(t *testing.T, dir, environment string) []*unstructured.Unstructured {
	t.Helper()
	built, err := kustomize.SecureBuild(dir, filepath.Join(dir, "overlays", environment), false)
	if err != nil {
		t.Fatalf("cannot build the overlay %s of %s: %v", environment, dir, err)
	}
	var objects []*unstructured.Unstructured
	for _, resource := range built.Resources() {
		content, err := resource.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// read reads a file with one object, all of whose fields must be known.
func read(t *testing.T, path string, object any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, object); err != nil {
		t.Fatalf("cannot read %s: %v", path, err)
	}
}

// push makes a repository of all files of a folder.
func push(t *testing.T, server *gitserver.Server, name, dir string) (*gitserver.Repository, string) {
	t.Helper()
	return harness.NewRepository(t, server, name, Files(t, dir))
}
