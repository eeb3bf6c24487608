package gitserver

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// selection is what answers a fetch: the objects, and the commits at which a history of
// limited depth ends.
type selection struct {
	objects []plumbing.Hash
	commits map[plumbing.Hash]bool
	shallow map[plumbing.Hash]bool

	store storer.EncodedObjectStorer
	seen  map[plumbing.Hash]bool
}

// selectObjects finds all objects that are reachable from others, through at most depth
// generations of commits; 0 is all of them.
func selectObjects(store storer.EncodedObjectStorer, wants []plumbing.Hash, depth int) (*selection, error) {
	s := &selection{
		store: store, commits: map[plumbing.Hash]bool{}, shallow: map[plumbing.Hash]bool{}, seen: map[plumbing.Hash]bool{},
	}
	var generation []plumbing.Hash
	for _, want := range wants {
		commit, err := s.addTags(want)
		if err != nil {
			return nil, err
		}
		generation = append(generation, commit)
	}
	for level := 1; len(generation) > 0; level++ {
		var parents []plumbing.Hash
		for _, hash := range generation {
			if s.commits[hash] {
				continue
			}
			commit, err := object.GetCommit(store, hash)
			if err != nil {
				return nil, err
			}
			s.commits[hash] = true
			s.add(hash)
			if err := s.addTree(commit.TreeHash); err != nil {
				return nil, err
			}
			if level == depth && len(commit.ParentHashes) > 0 {
				s.shallow[hash] = true
				continue
			}
			parents = append(parents, commit.ParentHashes...)
		}
		generation = parents
	}
	return s, nil
}

// add says whether the object is new.
func (s *selection) add(hash plumbing.Hash) bool {
	if s.seen[hash] {
		return false
	}
	s.seen[hash] = true
	s.objects = append(s.objects, hash)
	return true
}

// addTags follows annotated tags down to the commit.
func (s *selection) addTags(hash plumbing.Hash) (plumbing.Hash, error) {
	for {
		encoded, err := s.store.EncodedObject(plumbing.AnyObject, hash)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if encoded.Type() != plumbing.TagObject {
			return hash, nil
		}
		s.add(hash)
		tag, err := object.DecodeTag(s.store, encoded)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		hash = tag.Target
	}
}

func (s *selection) addTree(hash plumbing.Hash) error {
	if !s.add(hash) {
		return nil
	}
	tree, err := object.GetTree(s.store, hash)
	if err != nil {
		return err
	}
	for _, entry := range tree.Entries {
		switch entry.Mode {
		case filemode.Submodule:
			// Its commit lies in another repository.
		case filemode.Dir:
			if err := s.addTree(entry.Hash); err != nil {
				return err
			}
		default:
			s.add(entry.Hash)
		}
	}
	return nil
}
