package check

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/fluxcd/pkg/kustomize"
	securefs "github.com/fluxcd/pkg/kustomize/filesys"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tree is a repository's tree, and the part of it that is built.
type tree struct {
	root, dir string
	// disk is the root, out of which no symbolic link leads.
	disk *os.Root
	// read are the files that were read, by path, with what is in them.
	read map[string][]located
}

func (t *tree) close() { _ = t.disk.Close() }

// content of a file, by its path from the root.
func (t *tree) content(path string) ([]byte, error) { return t.disk.ReadFile(filepath.FromSlash(path)) }

// document is an object that the tree comes to, and where it is from.
type document struct {
	object *unstructured.Unstructured
	// path from the root, and place in it; no place where it was not found again.
	path  string
	place *located
}

// build makes of the tree what kustomize-controller would: of a folder without a
// kustomization.yaml, all that is in it. Nothing is written, and nothing is fetched.
func (t *tree) build() ([]document, error) {
	if findings := t.remotesIn(t.dir, map[string]bool{}); len(findings) > 0 {
		return nil, refusedError{findings}
	}
	spec := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"buildMetadata": []any{"originAnnotations"}}}}
	manifest, file, _, err := kustomize.NewGeneratorWithIgnore(t.root, "", spec).GenerateManifest(t.dir)
	if err != nil {
		return nil, err
	}
	disk, err := securefs.MakeFsOnDiskSecure(t.root)
	if err != nil {
		return nil, err
	}
	built, err := kustomize.Build(overlay{FileSystem: disk, path: filepath.Clean(file), content: manifest}, t.dir)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, made := range built.Resources() {
		content, err := made.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", made.CurId(), err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", made.CurId(), err)
		}
		one := document{object: withoutOrigin(object), path: t.relative(t.dir)}
		origin, err := made.GetOrigin()
		if err != nil {
			return nil, fmt.Errorf("cannot find where %s is from: %w", made.CurId(), err)
		}
		if origin != nil {
			one.path = t.relative(filepath.Join(t.dir, cmp.Or(origin.Path, origin.ConfiguredIn)))
			// Kustomize may have given it another name or namespace.
			written := made.OrgId()
			one.place = t.find(one.path, located{apiVersion: written.ApiVersion(), kind: written.Kind, namespace: written.Namespace, name: written.Name})
		}
		documents = append(documents, one)
	}
	return documents, nil
}

// withoutOrigin takes off what build had kustomize put on.
func withoutOrigin(object *unstructured.Unstructured) *unstructured.Unstructured {
	annotations := object.GetAnnotations()
	delete(annotations, "config.kubernetes.io/origin")
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	return object
}

// find finds an object in a file, as it is written there.
func (t *tree) find(path string, written located) *located {
	for _, in := range t.objects(path) {
		if in.kind == written.kind && in.name == written.name && in.apiVersion == written.apiVersion && (in.namespace == written.namespace || written.namespace == "") {
			return &in
		}
	}
	return nil
}

// objects reads what is in a file; nothing where it is not YAML.
func (t *tree) objects(path string) []located {
	if known, found := t.read[path]; found {
		return known
	}
	content, err := t.content(path)
	if err == nil {
		t.read[path], _ = locate(content)
	}
	return t.read[path]
}

func (t *tree) relative(path string) string {
	if relative, err := filepath.Rel(t.root, path); err == nil {
		return filepath.ToSlash(relative)
	}
	return path
}
