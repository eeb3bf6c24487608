package merge

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds how many maps and lists values have in each other, and how many keys a
// path has.
const MaxDepth = 100

// Path leads from the top of values to one of them, through maps. The zero Path is the top.
//
// Paths share their beginnings: as many as values have take little more than these.
type Path struct {
	parent *Path
	key    string
	depth  int
}

// ParsePath reads keys with dots between them. In a key, \. is a dot and \\ a backslash. It
// returns an error, which says what to write instead, for another backslash, an empty key,
// text that is not UTF-8, and more keys than MaxDepth.
func ParsePath(text string) (Path, error) {
	path, err := parsePath(text)
	if err != nil {
		return Path{}, fmt.Errorf("cannot read the path %#q: %w", shown(text), err)
	}
	return path, nil
}

func parsePath(text string) (Path, error) {
	if !utf8.ValidString(text) {
		return Path{}, errors.New("it is not UTF-8: write keys as they are in the values")
	}
	path := &Path{}
	var key strings.Builder
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == '.':
			if key.Len() == 0 {
				return Path{}, fmt.Errorf(`key %d is empty: write one dot between two keys, none at either end, and \. for a dot in a key`, path.depth+1)
			}
			if path.depth == MaxDepth {
				return Path{}, fmt.Errorf("it has more than %d keys: take the override to a map further up", MaxDepth)
			}
			next := beneath(path, key.String())
			path = &next
			key.Reset()
		case text[i] == '\\':
			i++
			if i == len(text) || text[i] != '.' && text[i] != '\\' {
				return Path{}, fmt.Errorf(`a backslash in key %d has neither a dot nor a backslash after it: write \\ for a backslash in a key`, path.depth+1)
			}
			key.WriteByte(text[i])
		default:
			key.WriteByte(text[i])
		}
	}
	return *path, nil
}

// escaping writes a key as ParsePath reads it.
var escaping = strings.NewReplacer(`\`, `\\`, `.`, `\.`)

// String is what ParsePath reads, unless a key is empty: no path that is written leads
// there.
func (p Path) String() string {
	keys := p.keys()
	for i, key := range keys {
		keys[i] = escaping.Replace(key)
	}
	return strings.Join(keys, ".")
}

// Compare orders paths by their keys, from the first on: what lies in a map comes after
// the map, and before the next one. It is negative, zero or positive.
func (p Path) Compare(other Path) int {
	a, b := &p, &other
	for a.depth > b.depth {
		a = a.parent
	}
	for b.depth > a.depth {
		b = b.parent
	}
	order := cmp.Compare(p.depth, other.depth)
	// The first of the keys that differ counts, and those of a common beginning do not.
	for ; a != b && a.depth > 0; a, b = a.parent, b.parent {
		if c := cmp.Compare(a.key, b.key); c != 0 {
			order = c
		}
	}
	return order
}

// isIn says whether a path is another one or leads on from there.
func (p Path) isIn(other Path) bool {
	return p.upTo(other.depth).Compare(other) == 0
}

// upTo is so much of a path, or all of it.
func (p Path) upTo(depth int) Path {
	for p.depth > depth {
		p = *p.parent
	}
	return p
}

// keys are those from the top on.
func (p Path) keys() []string {
	keys := make([]string, p.depth)
	for ; p.depth > 0; p = *p.parent {
		keys[p.depth-1] = p.key
	}
	return keys
}

// beneath is the path of a key in a map.
func beneath(parent *Path, key string) Path {
	return Path{parent: parent, key: key, depth: parent.depth + 1}
}

// maxShown is how much of a path or key an error shows.
const maxShown = 200

// shown cuts off what is too long for an error.
func shown(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
