// Package check reads a repository's tree without a cluster, and says what the cluster would
// refuse, or what would surprise. The tree is built as Flux builds it.
package check

import (
	"fmt"
	"os"
	"path/filepath"
)

// Options of a check.
type Options struct {
	// Dir is what spec.path of the Customizer, or of the source, leads to.
	Dir string
	// Root is the root of the repository; by default the nearest folder above Dir, or Dir
	// itself, that has a .git, and else Dir. Nothing outside is read.
	Root string
	// Tenant says that the repository is a tenant's: applications and nothing else.
	Tenant bool
	// Export is what the cluster has of Packages; nil where that is not known.
	Export *Export
}

// Report is what a check came to.
type Report struct {
	Findings []Finding `json:"findings"`
	// Objects is how many there are.
	Objects int `json:"objects"`
}

// Run checks a tree. An error says that it could not be read at all.
func Run(options Options) (Report, error) {
	tree, err := openTree(options.Dir, options.Root)
	if err != nil {
		return Report{}, err
	}
	defer tree.close()
	documents, err := tree.build()
	if err != nil {
		return Report{Findings: sorted(tree.explain(err))}, nil
	}
	kinds, err := ownKinds()
	if err != nil {
		return Report{}, err
	}
	findings := duplicates(documents)
	for _, document := range documents {
		found := kinds.check(document)
		switch {
		case options.Tenant:
			found = append(found, tenantsOnly(document)...)
		case len(found) == 0:
			// What the schema refuses is not to be read any further.
			found = append(found, packageValues(document, options.Export)...)
			found = append(found, platformPackage(document)...)
		}
		findings = append(findings, append(found, plainSecret(document)...)...)
	}
	return Report{Findings: sorted(findings), Objects: len(documents)}, nil
}

// openTree finds the folders.
func openTree(dir, root string) (*tree, error) {
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	if root == "" {
		root = repositoryOf(dir)
	} else if root, err = absolute(root); err != nil {
		return nil, err
	}
	if inside, err := filepath.Rel(root, dir); err != nil || !filepath.IsLocal(inside) {
		return nil, fmt.Errorf("%s is not below %s, the root of the repository", dir, root)
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("cannot read folder %s: %w", root, err)
	}
	return &tree{root: root, dir: dir, disk: files, read: map[string][]located{}}, nil
}

// absolute is a folder's path without symbolic links.
func absolute(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find folder %s: %w", dir, err)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", fmt.Errorf("cannot find folder %s: %w", dir, err)
	}
	found, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read folder %s: %w", dir, err)
	}
	if !found.IsDir() {
		return "", fmt.Errorf("%s is no folder: name the folder that spec.path leads to", dir)
	}
	return path, nil
}

func repositoryOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
