package gitserver

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// content is what a commit holds, by path: files, and commits of submodules.
type content map[string]object.TreeEntry

func gitlink(commit string) object.TreeEntry {
	return object.TreeEntry{Mode: filemode.Submodule, Hash: plumbing.NewHash(commit)}
}

func (r *Repository) contentOf(tree plumbing.Hash) (content, error) {
	root, err := object.GetTree(r.store, tree)
	if err != nil {
		return nil, err
	}
	all := content{}
	walker := object.NewTreeWalker(root, true, nil)
	defer walker.Close()
	for {
		path, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if entry.Mode != filemode.Dir {
			all[path] = entry
		}
	}
}

// edit writes and removes files of a content.
func (r *Repository) edit(tree content, files map[string]string, removed []string) error {
	for _, path := range removed {
		before := len(tree)
		maps.DeleteFunc(tree, func(file string, _ object.TreeEntry) bool {
			return file == path || strings.HasPrefix(file, strings.TrimSuffix(path, "/")+"/")
		})
		if len(tree) == before {
			return fmt.Errorf("remove %s: it is not there", path)
		}
	}
	for path, text := range files {
		blob := r.store.NewEncodedObject()
		blob.SetType(plumbing.BlobObject)
		writer, err := blob.Writer()
		if err != nil {
			return err
		}
		if _, err := io.WriteString(writer, text); err != nil {
			return err
		}
		if err := writer.Close(); err != nil {
			return err
		}
		hash, err := r.store.SetEncodedObject(blob)
		if err != nil {
			return err
		}
		tree[path] = object.TreeEntry{Mode: filemode.Regular, Hash: hash}
	}
	return nil
}

// storeTree stores a content as git does: a tree for each folder.
func (r *Repository) storeTree(files content) (plumbing.Hash, error) {
	folders := map[string]content{}
	tree := &object.Tree{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		entry := files[path]
		folder, rest, nested := strings.Cut(path, "/")
		if nested {
			if folders[folder] == nil {
				folders[folder] = content{}
			}
			folders[folder][rest] = entry
			continue
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: path, Mode: entry.Mode, Hash: entry.Hash})
	}
	for name, below := range folders {
		hash, err := r.storeTree(below)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: hash})
	}
	sort.Sort(object.TreeEntrySorter(tree.Entries))
	return r.storeObject(tree.Encode)
}
