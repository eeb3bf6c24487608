package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// kustomizationNames are those that kustomize looks for in a folder.
var kustomizationNames = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// keysOfBases are the lists of a kustomization.yaml whose entries may be repositories, which
// kustomize fetches with git where there is no file or folder of that name.
var keysOfBases = []string{"resources", "bases", "components", "crds", "generators", "transformers", "validators", "configurations"}

// keysOfFiles are keys, at any depth, with files that kustomize may fetch by HTTP.
var keysOfFiles = []string{"path", "paths", "file", "files", "env", "envs", "patchesStrategicMerge", "valuesFile", "additionalValuesFiles", "repo"}

// remotes finds what a build would fetch from elsewhere, and what is not there or out of the
// repository. The tenants' controllers fetch nothing, the platform's Flux may be told not to,
// and a check without a cluster does not go anywhere.
func (t *tree) remotes(manifest []byte, file string, seen map[string]bool) []Finding {
	dir := filepath.Dir(file)
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	var root yaml.Node
	if err := yaml.Unmarshal(manifest, &root); err != nil || len(root.Content) != 1 {
		// Kustomize says what is wrong with it.
		return nil
	}
	var findings []Finding
	refuse := func(entry *yaml.Node, why string) {
		findings = append(findings, Finding{Path: t.relative(file), Line: entry.Line, Level: Error, Rule: RuleBuild,
			Message: fmt.Sprintf("%q %s", entry.Value, why)})
	}
	const remote = "is not in the repository; what is elsewhere is not fetched: copy it here"
	for _, key := range keysOfBases {
		list := child(root.Content[0], key)
		if list == nil {
			continue
		}
		for _, entry := range list.Content {
			if entry.Kind != yaml.ScalarNode || strings.Contains(entry.Value, "\n") {
				continue
			}
			path := filepath.Join(dir, entry.Value)
			found, err := os.Stat(path)
			inside, outsideErr := filepath.Rel(t.root, path)
			switch {
			case err != nil:
				refuse(entry, remote)
			case outsideErr != nil || !filepath.IsLocal(inside):
				refuse(entry, "is outside of the repository, of which Flux has nothing else")
			case found.IsDir():
				findings = append(findings, t.remotesIn(path, seen)...)
			}
		}
	}
	for _, entry := range under(root.Content[0], keysOfFiles) {
		if strings.Contains(entry.Value, "://") && !strings.Contains(entry.Value, "\n") {
			refuse(entry, remote)
		}
	}
	return findings
}

// remotesIn looks into the kustomization.yaml of a folder.
func (t *tree) remotesIn(dir string, seen map[string]bool) []Finding {
	for _, name := range kustomizationNames {
		file := filepath.Join(dir, name)
		if content, err := t.content(t.relative(file)); err == nil {
			return t.remotes(content, file, seen)
		}
	}
	return nil
}

// under are the scalars below keys of these names, at any depth.
func under(node *yaml.Node, keys []string) []*yaml.Node {
	var found []*yaml.Node
	for i, inner := range node.Content {
		if node.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			if slices.Contains(keys, node.Content[i-1].Value) {
				found = append(found, scalars(inner)...)
				continue
			}
		}
		found = append(found, under(inner, keys)...)
	}
	return found
}

func scalars(node *yaml.Node) []*yaml.Node {
	if node.Kind == yaml.ScalarNode {
		return []*yaml.Node{node}
	}
	var found []*yaml.Node
	for _, inner := range node.Content {
		found = append(found, scalars(inner)...)
	}
	return found
}
