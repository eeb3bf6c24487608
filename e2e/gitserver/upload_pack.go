package gitserver

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// fetchRequest is the first part of what a client says.
type fetchRequest struct {
	wants    []plumbing.Hash
	shallow  []plumbing.Hash
	depth    int
	sideBand bool
}

// serveFetch answers a fetch. Over SSH the client waits for each answer; over HTTP it
// has said everything before. The order of answers is the same.
func (r *Repository) serveFetch(in io.Reader, out io.Writer) error {
	lines := pktline.NewScanner(in)
	request, err := readFetchRequest(lines)
	if err != nil || len(request.wants) == 0 {
		return err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	selected, err := selectObjects(r.store, request.wants, request.depth)
	if err != nil {
		return fmt.Errorf("find the objects asked for in %s: %w", r.Name, err)
	}
	encoder := pktline.NewEncoder(out)
	if request.depth > 0 {
		if err := writeShallow(encoder, request, selected); err != nil {
			return err
		}
	}
	// The client now says what it has; nothing of that is taken up, until it is done.
	for lines.Scan() {
		switch line := string(lines.Bytes()); {
		case line == "":
			if err := encoder.EncodeString("NAK\n"); err != nil {
				return err
			}
		case strings.TrimSpace(line) == "done":
			if err := encoder.EncodeString("NAK\n"); err != nil {
				return err
			}
			return r.writePack(out, selected.objects, request.sideBand)
		}
	}
	return lines.Err()
}

func readFetchRequest(lines *pktline.Scanner) (fetchRequest, error) {
	var request fetchRequest
	for lines.Scan() {
		line := strings.TrimSpace(string(lines.Bytes()))
		if line == "" {
			return request, nil
		}
		word, rest, _ := strings.Cut(line, " ")
		value, options, _ := strings.Cut(rest, " ")
		switch word {
		case "want":
			request.wants = append(request.wants, plumbing.NewHash(value))
			request.sideBand = request.sideBand || slices.Contains(strings.Fields(options), "side-band-64k")
		case "shallow":
			request.shallow = append(request.shallow, plumbing.NewHash(value))
		case "deepen":
			depth, err := strconv.Atoi(value)
			if err != nil {
				return request, fmt.Errorf("read fetch request: depth %q: %w", value, err)
			}
			request.depth = depth
		default:
			return request, fmt.Errorf("read fetch request: %q was not offered", word)
		}
	}
	return request, lines.Err()
}

// writeShallow tells where the history now ends, and where it does no longer.
func writeShallow(encoder *pktline.Encoder, request fetchRequest, selected *selection) error {
	for hash := range selected.shallow {
		if err := encoder.Encodef("shallow %s", hash); err != nil {
			return err
		}
	}
	for _, hash := range request.shallow {
		if selected.commits[hash] && !selected.shallow[hash] {
			if err := encoder.Encodef("unshallow %s", hash); err != nil {
				return err
			}
		}
	}
	return encoder.Flush()
}

// maxPiece of a pack fits into one line, with the number of its channel.
const maxPiece = pktline.MaxPayloadSize - 1

func (r *Repository) writePack(out io.Writer, objects []plumbing.Hash, sideBand bool) error {
	// In memory first: the encoder writes many small pieces.
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, r.store, false).Encode(objects, 0); err != nil {
		return fmt.Errorf("pack %s: %w", r.Name, err)
	}
	if !sideBand {
		_, err := pack.WriteTo(out)
		return err
	}
	muxer := sideband.NewMuxer(sideband.Sideband64k, out)
	for pack.Len() > 0 {
		// In pieces: of a longer one the muxer makes lines longer than a line may be.
		if _, err := muxer.Write(pack.Next(maxPiece)); err != nil {
			return fmt.Errorf("send pack of %s: %w", r.Name, err)
		}
	}
	return pktline.NewEncoder(out).Flush()
}
