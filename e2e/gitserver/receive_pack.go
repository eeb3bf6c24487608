package gitserver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// referenceChange is one line of a push: move, create or delete a reference.
type referenceChange struct {
	before, after plumbing.Hash
	name          plumbing.ReferenceName
}

// servePush answers a push. History may be rewritten: this is a server for tests.
func (r *Repository) servePush(in io.Reader, out io.Writer) error {
	buffered := bufio.NewReader(in)
	changes, sideBand, err := readPush(pktline.NewScanner(buffered))
	if err != nil || len(changes) == 0 {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var report bytes.Buffer
	encoder := pktline.NewEncoder(&report)
	unpacked := "ok"
	deletesOnly := !slices.ContainsFunc(changes, func(c referenceChange) bool { return !c.after.IsZero() })
	if !deletesOnly {
		if err := packfile.UpdateObjectStorage(r.store, buffered); err != nil {
			unpacked = err.Error()
		}
	}
	if err := encoder.Encodef("unpack %s\n", unpacked); err != nil {
		return err
	}
	for _, change := range changes {
		line := "ok " + change.name.String()
		if refusal := r.apply(change, unpacked); refusal != "" {
			line = fmt.Sprintf("ng %s %s", change.name, refusal)
		}
		if err := encoder.EncodeString(line + "\n"); err != nil {
			return err
		}
	}
	if err := encoder.Flush(); err != nil {
		return err
	}
	if !sideBand {
		_, err := report.WriteTo(out)
		return err
	}
	if _, err := report.WriteTo(sideband.NewMuxer(sideband.Sideband64k, out)); err != nil {
		return fmt.Errorf("report push to %s: %w", r.Name, err)
	}
	return pktline.NewEncoder(out).Flush()
}

// apply changes a reference, or says why not.
func (r *Repository) apply(change referenceChange, unpacked string) (refusal string) {
	if unpacked != "ok" {
		return "unpacker error"
	}
	present := plumbing.ZeroHash
	if reference, err := r.store.Reference(change.name); err == nil {
		present = reference.Hash()
	}
	if present != change.before {
		return "fetch first"
	}
	var err error
	if change.after.IsZero() {
		err = r.store.RemoveReference(change.name)
	} else {
		err = r.store.SetReference(plumbing.NewHashReference(change.name, change.after))
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func readPush(lines *pktline.Scanner) (changes []referenceChange, sideBand bool, err error) {
	for lines.Scan() {
		line, options, _ := strings.Cut(strings.TrimSuffix(string(lines.Bytes()), "\n"), "\x00")
		if line == "" {
			return changes, sideBand, nil
		}
		sideBand = sideBand || slices.Contains(strings.Fields(options), "side-band-64k")
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, false, fmt.Errorf("read push: line %q", line)
		}
		changes = append(changes, referenceChange{
			before: plumbing.NewHash(fields[0]), after: plumbing.NewHash(fields[1]), name: plumbing.ReferenceName(fields[2]),
		})
	}
	return changes, sideBand, lines.Err()
}
