package gitserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Commit writes files (path to content) and removes others on the default branch, and
// returns the commit's hash. A removed folder goes with all that is in it.
func (r *Repository) Commit(ctx context.Context, files map[string]string, removed ...string) (string, error) {
	return r.Branch(DefaultBranch).Commit(ctx, files, removed...)
}

// Branch returns a branch, which need not exist: its first commit then follows the last
// one of the default branch.
func (r *Repository) Branch(name string) *Branch {
	return &Branch{repository: r, name: plumbing.NewBranchReferenceName(name)}
}

// Branch is a branch of a repository.
type Branch struct {
	repository *Repository
	name       plumbing.ReferenceName
}

// Commit is as Repository.Commit, on this branch.
func (b *Branch) Commit(ctx context.Context, files map[string]string, removed ...string) (string, error) {
	return b.commit(ctx, func(parent *object.Commit) (content, []plumbing.Hash, error) {
		if parent == nil {
			return content{}, nil, nil
		}
		before, err := b.repository.contentOf(parent.TreeHash)
		return before, []plumbing.Hash{parent.Hash}, err
	}, func(tree content) error { return b.repository.edit(tree, files, removed) })
}

// Replace gives the branch a new history of one commit with these files alone, as a
// force-push does.
func (b *Branch) Replace(ctx context.Context, files map[string]string) (string, error) {
	return b.commit(ctx, func(*object.Commit) (content, []plumbing.Hash, error) {
		return content{}, nil, nil
	}, func(tree content) error { return b.repository.edit(tree, files, nil) })
}

// AddSubmodule commits a submodule at a path: the repository of a URL, at a commit of it.
func (b *Branch) AddSubmodule(ctx context.Context, path, url, commit string) (string, error) {
	declaration := fmt.Sprintf("[submodule %q]\n\tpath = %s\n\turl = %s\n", path, path, url)
	return b.commit(ctx, func(parent *object.Commit) (content, []plumbing.Hash, error) {
		if parent == nil {
			return content{}, nil, nil
		}
		before, err := b.repository.contentOf(parent.TreeHash)
		return before, []plumbing.Hash{parent.Hash}, err
	}, func(tree content) error {
		tree[path] = gitlink(commit)
		return b.repository.edit(tree, map[string]string{".gitmodules": declaration}, nil)
	})
}

// Reset moves the branch to any commit of the repository, as a force-push does.
func (b *Branch) Reset(ctx context.Context, commit string) error {
	return b.repository.update(ctx, func() error {
		return b.repository.store.SetReference(plumbing.NewHashReference(b.name, plumbing.NewHash(commit)))
	})
}

// Delete removes the branch; its commits stay in the repository.
func (b *Branch) Delete(ctx context.Context) error {
	return b.repository.update(ctx, func() error { return b.repository.store.RemoveReference(b.name) })
}

// Head is the hash of the branch's last commit.
func (b *Branch) Head() (string, error) {
	b.repository.mu.RLock()
	defer b.repository.mu.RUnlock()
	reference, err := b.repository.store.Reference(b.name)
	if err != nil {
		return "", fmt.Errorf("read %s of repository %s: %w", b.name, b.repository.Name, err)
	}
	return reference.Hash().String(), nil
}

// Head is the hash of the default branch's last commit.
func (r *Repository) Head() (string, error) { return r.Branch(DefaultBranch).Head() }

// Tag points a lightweight tag at a commit; a tag that exists is moved.
func (r *Repository) Tag(ctx context.Context, name, commit string) error {
	return r.update(ctx, func() error {
		return r.store.SetReference(plumbing.NewHashReference(plumbing.NewTagReferenceName(name), plumbing.NewHash(commit)))
	})
}

// AnnotatedTag is a tag with a message of its own.
func (r *Repository) AnnotatedTag(ctx context.Context, name, commit, message string) error {
	return r.update(ctx, func() error {
		tag := &object.Tag{
			Name: name, Message: message + "\n", Tagger: author(), TargetType: plumbing.CommitObject, Target: plumbing.NewHash(commit),
		}
		if err := r.signObject(tag.EncodeWithoutSignature, &tag.PGPSignature); err != nil {
			return err
		}
		hash, err := r.storeObject(tag.Encode)
		if err != nil {
			return err
		}
		return r.store.SetReference(plumbing.NewHashReference(plumbing.NewTagReferenceName(name), hash))
	})
}

// commit makes a commit from what was there before and an edit of it.
func (b *Branch) commit(ctx context.Context, before func(*object.Commit) (content, []plumbing.Hash, error), edit func(content) error) (string, error) {
	var hash plumbing.Hash
	err := b.repository.update(ctx, func() error {
		parent, err := b.parent()
		if err != nil {
			return err
		}
		tree, parents, err := before(parent)
		if err != nil {
			return err
		}
		if err := edit(tree); err != nil {
			return err
		}
		root, err := b.repository.storeTree(tree)
		if err != nil {
			return err
		}
		commit := &object.Commit{
			Author: author(), Committer: author(), Message: "Change of a test\n", TreeHash: root, ParentHashes: parents,
		}
		if err := b.repository.signObject(commit.EncodeWithoutSignature, &commit.PGPSignature); err != nil {
			return err
		}
		if hash, err = b.repository.storeObject(commit.Encode); err != nil {
			return err
		}
		return b.repository.store.SetReference(plumbing.NewHashReference(b.name, hash))
	})
	return hash.String(), err
}

// parent is the last commit of the branch, else of the default branch, else nil.
func (b *Branch) parent() (*object.Commit, error) {
	for _, name := range []plumbing.ReferenceName{b.name, plumbing.NewBranchReferenceName(DefaultBranch)} {
		reference, err := b.repository.store.Reference(name)
		if errors.Is(err, plumbing.ErrReferenceNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return object.GetCommit(b.repository.store, reference.Hash())
	}
	return nil, nil
}

func (r *Repository) signObject(encode func(plumbing.EncodedObject) error, signature *string) error {
	if r.sign == nil {
		return nil
	}
	payload := &plumbing.MemoryObject{}
	if err := encode(payload); err != nil {
		return err
	}
	reader, err := payload.Reader()
	if err != nil {
		return err
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		return err
	}
	*signature, err = r.sign(content)
	return err
}

func (r *Repository) storeObject(encode func(plumbing.EncodedObject) error) (plumbing.Hash, error) {
	encoded := r.store.NewEncodedObject()
	if err := encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	return r.store.SetEncodedObject(encoded)
}

func author() object.Signature {
	return object.Signature{Name: "Ada Example", Email: "ada@example.org", When: time.Now()}
}
