package gitserver

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// capabilities are what the server can do for a service. It leaves out multi_ack: what a
// client has changes nothing in what it gets.
var capabilities = map[string]string{
	uploadPack:  "ofs-delta side-band-64k shallow no-progress allow-tip-sha1-in-want allow-reachable-sha1-in-want symref=HEAD:refs/heads/" + DefaultBranch + " agent=test-server",
	receivePack: "report-status delete-refs ofs-delta no-thin side-band-64k agent=test-server",
}

// advertise writes all references and the capabilities of a service.
func (r *Repository) advertise(w io.Writer, service string) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	lines := r.referenceLines(service)
	if len(lines) == 0 {
		lines = []string{plumbing.ZeroHash.String() + " capabilities^{}"}
	}
	encoder := pktline.NewEncoder(w)
	for i, line := range lines {
		if i == 0 {
			line += "\x00" + capabilities[service]
		}
		if err := encoder.EncodeString(line + "\n"); err != nil {
			return err
		}
	}
	return encoder.Flush()
}

// referenceLines are in the order that git wants: HEAD first, then by name, an annotated
// tag followed by what it points at. Who pushes wants neither HEAD nor that.
func (r *Repository) referenceLines(service string) []string {
	var lines []string
	for name, reference := range r.store.ReferenceStorage {
		if reference.Type() != plumbing.HashReference {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s", name, reference.Hash()))
		if !name.IsTag() || service != uploadPack {
			continue
		}
		if tag, err := object.GetTag(r.store, reference.Hash()); err == nil {
			lines = append(lines, fmt.Sprintf("%s^{} %s", name, tag.Target))
		}
	}
	sort.Strings(lines)
	for i, line := range lines {
		name, hash, _ := strings.Cut(line, " ")
		lines[i] = hash + " " + name
	}
	if head, err := r.store.Reference(plumbing.NewBranchReferenceName(DefaultBranch)); err == nil && service == uploadPack {
		lines = append([]string{head.Hash().String() + " HEAD"}, lines...)
	}
	return lines
}
