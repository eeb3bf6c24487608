package check

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// inYAML finds the line in an error of the YAML library.
var inYAML = regexp.MustCompile(`yaml: line (\d+): (.*)`)

// refusedError is a tree that is not built at all.
type refusedError struct{ findings []Finding }

func (refusedError) Error() string { return "it is made of what is elsewhere" }

// explain says where a tree is wrong that cannot be built. Kustomize names neither the line
// of a file that is no YAML, nor both places of an object that is there twice.
func (t *tree) explain(failed error) []Finding {
	var refused refusedError
	if errors.As(failed, &refused) {
		return refused.findings
	}
	var findings []Finding
	seen := map[string]Finding{}
	// What cannot be read is what kustomize says.
	_ = fs.WalkDir(t.disk.FS(), t.relative(t.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && entry.Name() == ".git" {
			return errors.Join(err, fs.SkipDir)
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)) {
			return nil
		}
		content, err := t.content(path)
		if err != nil {
			return nil //nolint:nilerr // Kustomize says so.
		}
		documents, err := locate(content)
		if err != nil {
			finding := Finding{Path: path, Level: Error, Rule: RuleBuild, Message: "this is no YAML: " + err.Error()}
			if match := inYAML.FindStringSubmatch(err.Error()); match != nil {
				finding.Line, _ = strconv.Atoi(match[1])
				finding.Message = "this is no YAML: " + match[2]
			}
			findings = append(findings, finding)
			return nil
		}
		for _, in := range documents {
			if in.kind == "" || in.name == "" || !strings.Contains(failed.Error(), "/"+in.name+".") && !strings.Contains(failed.Error(), in.name) {
				continue
			}
			here := Finding{Path: path, Line: in.node.Line, Level: Error, Rule: RuleDuplicate, Object: in.String()}
			first, twice := seen[in.id()]
			if twice && strings.Contains(failed.Error(), "already registered id") {
				here.Message = fmt.Sprintf("it is at %s:%d too: keep one of the two", first.Path, first.Line)
				findings = append(findings, here)
			}
			seen[in.id()] = here
		}
		return nil
	})
	if len(findings) == 0 {
		findings = append(findings, Finding{Path: t.relative(t.dir), Level: Error, Rule: RuleBuild, Message: "it cannot be built: " + strings.ReplaceAll(failed.Error(), t.root+string(filepath.Separator), "")})
	}
	return findings
}
