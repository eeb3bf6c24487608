// Package merge lays values over those of a Package, as JSON that is kept as it was
// written: numbers have their exact text, keys their order, and what does not change its
// bytes.
//
// Maps merge deep. Anything else replaces what is there: a list a list, a scalar or null a
// map. A null is handed on, so that Helm removes a chart's default by it. A list is merged
// only where a rule asks for that.
package merge

import (
	"bytes"
	"fmt"
)

// Result is what comes of an override.
type Result struct {
	// Values are the merged ones; nil where neither side says anything.
	Values []byte
	// Overridden are the paths of all values that the override sets or unsets, those that
	// the Package has just so included: what the Package says there later makes no
	// difference. An item of a list that is merged by key is in a path as [name=value],
	// where a string that is JSON itself has quotes.
	Overridden []Path
	// Shadowed are the paths where the Package has something else, which is gone: of values
	// that are overridden, and of maps that stand for something that was none.
	Shadowed []Path
	// Replaced are the lists of the Package that the override has other lists for.
	Replaced []Replacement
	// Idle is what the override asks for to no effect.
	Idle []Idle
}

// Replacement is a list in place of another one.
type Replacement struct {
	Path Path
	// Before and After are how many items the lists have.
	Before, After int
}

// Part is a part of an override.
type Part string

const (
	// PartUnset is one of the paths to be unset.
	PartUnset Part = "unset"
	// PartListMerge is one of the rules for lists.
	PartListMerge Part = "listMerge"
)

// Idle is a part of an override that does nothing.
type Idle struct {
	Part Part
	Path Path
	// Why is for people to read.
	Why string
}

// Merge lays an override over the values of a Package, which may be absent (empty). All of
// the result is in order of paths, and none of it shares memory with what came in; same
// input gives the same bytes.
//
// The override's own errors are those of Validate. Others are values of the Package that
// are not to be read as Validate says of the override's, and lists of the Package that
// cannot be merged by key.
//
// Time and memory are linear in the size of both, times the logarithm of how many keys a
// map has.
func Merge(values []byte, override Override) (Result, error) {
	over, err := override.read()
	if err != nil {
		return Result{}, err
	}
	under, err := readDocument(values)
	if err != nil {
		return Result{}, fmt.Errorf("cannot read the Package's values: %w", err)
	}
	m := merger{rules: map[*member]*rule{}}
	for _, r := range over.rules {
		both, idle := r.meets(under.root)
		if both {
			m.rules[r.member] = r
		}
		if idle != "" {
			m.result.Idle = append(m.result.Idle, Idle{Part: PartListMerge, Path: r.Path, Why: idle})
		}
	}
	if err := m.mergeMap(under.root.parts, over.root.parts, Path{}); err != nil {
		return Result{}, err
	}
	m.unset(under.root, override.Unset)
	m.sort()
	m.result.Values = under.appendTo(make([]byte, 0, len(values)+len(override.Values)))
	if len(m.result.Values) == 0 {
		m.result.Values = nil
	}
	return m.result, nil
}

// merger writes into the tree of the Package's values, and takes parts of the override's
// into it.
type merger struct {
	// rules for the lists that both sides have, by the override's.
	rules  map[*member]*rule
	result Result
}

// mergeMap merges one map into another.
func (m *merger) mergeMap(into, from *parts, path Path) error {
	isNew := make([]bool, len(from.members))
	for _, i := range from.inOrder() {
		given := &from.members[i]
		at := beneath(&path, given.key)
		found := into.find(given.key)
		if found == nil {
			isNew[i] = true
			m.overridden(given.value, at)
		} else if err := m.merge(&found.value, given, at); err != nil {
			return err
		}
	}
	for i, given := range from.members {
		if isNew[i] {
			into.add(member{key: given.key, name: given.name, value: given.value})
		}
	}
	return nil
}

// merge merges what the override has at a path into the value that the Package has there.
func (m *merger) merge(into *value, given *member, path Path) error {
	if into.isMap() && given.value.isMap() {
		return m.mergeMap(into.parts, given.value.parts, path)
	}
	if rule := m.rules[given]; rule != nil {
		switch {
		case given.value.length == 0:
			return nil
		case rule.Strategy == Append:
			return m.appendList(into, rule, path)
		default:
			return m.mergeByKey(into, rule, path)
		}
	}
	m.overridden(given.value, path)
	if equal(*into, given.value) {
		return nil
	}
	m.result.Shadowed = append(m.result.Shadowed, path)
	if into.isList() && given.value.isList() {
		m.result.Replaced = append(m.result.Replaced, Replacement{Path: path, Before: into.length, After: given.value.length})
	}
	*into = given.value
	return nil
}

// overridden reports all values in one of the override's. An empty map is a value.
func (m *merger) overridden(given value, path Path) {
	if given.isMap() && len(given.parts.members) > 0 {
		m.overriddenIn(given.parts, path)
		return
	}
	m.result.Overridden = append(m.result.Overridden, path)
}

func (m *merger) overriddenIn(given *parts, path Path) {
	for _, i := range given.inOrder() {
		m.overridden(given.members[i].value, beneath(&path, given.members[i].key))
	}
}

// equal says whether two values are the same to a reader. A number is by its text, and the
// order of a map's keys does not count.
func equal(a, b value) bool {
	switch {
	case a.kind() != b.kind() || a.length != b.length:
		return false
	case bytes.Equal(a.text, b.text):
		return true
	default:
		return (a.isList() || a.kind() == kindString) && sameContent(a.text, b.text)
	}
}
