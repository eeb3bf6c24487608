package merge

import (
	"cmp"
	"slices"
)

// unset sets paths to null, after the values of the override were merged.
func (m *merger) unset(root value, paths []Path) {
	var overridden, shadowed []Path
	for _, path := range slices.SortedFunc(slices.Values(paths), Path.Compare) {
		was, blocked := setNull(root, path)
		if blocked != "" {
			m.result.Idle = append(m.result.Idle, Idle{Part: PartUnset, Path: path, Why: "there is " + blocked})
			continue
		}
		overridden = append(overridden, path)
		if was != nil && was.kind() != kindNull {
			shadowed = append(shadowed, path)
		}
	}
	m.result.Overridden = inOneOrder(m.result.Overridden, overridden)
	m.result.Shadowed = inOneOrder(m.result.Shadowed, shadowed)
}

// setNull sets a path to null and returns what was there, nil for nothing; or what is in
// the way.
func setNull(root value, path Path) (was *value, blocked string) {
	none := value{text: []byte("null")}
	keys := path.keys()
	at := &root
	for i, key := range keys {
		if !at.isMap() {
			_, blocked := root.find(path)
			return nil, blocked
		}
		found := at.parts.find(key)
		if found == nil {
			at.parts.add(member{key: key, name: nameOf(key), value: inMaps(keys[i+1:], none)})
			return nil, ""
		}
		at = &found.value
	}
	replaced := *at
	*at = none
	return &replaced, ""
}

// inMaps puts a value into new maps, one for each key.
func inMaps(keys []string, inner value) value {
	for _, key := range slices.Backward(keys) {
		outer := emptyMap()
		outer.parts.add(member{key: key, name: nameOf(key), value: inner})
		inner = outer
	}
	return inner
}

// inOneOrder makes one of two lists of paths that are each in order.
func inOneOrder(a, b []Path) []Path {
	if len(b) == 0 {
		return a
	}
	all := make([]Path, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].Compare(b[0]) <= 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// sort puts in order what was found in that of the override's rules.
func (m *merger) sort() {
	slices.SortStableFunc(m.result.Idle, func(a, b Idle) int {
		return cmp.Or(a.Path.Compare(b.Path), cmp.Compare(a.Part, b.Part))
	})
}
