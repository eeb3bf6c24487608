package merge

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// value is a JSON value with its text.
type value struct {
	// text as it came; of a map or list that changes only the first byte holds.
	text []byte
	// parts of a map, and of a list whose items are looked at.
	parts *parts
	// length of a list, as it came.
	length int
}

// parts are the members of a map, or the items of a list.
type parts struct {
	members []member
	// index finds members by key, where they are many.
	index map[string]int
	// end is the text after the last member, the bracket included.
	end []byte
}

// member is a member of a map, or an item of a list, which has no key.
type member struct {
	key string
	// name is the key's text.
	name []byte
	// lead is the text between the member before and this one's value; nil for a member
	// that was added.
	lead  []byte
	value value
}

// kind is what a value is, as it is said to people.
type kind string

const (
	kindNull    kind = "null"
	kindBoolean kind = "a boolean"
	kindNumber  kind = "a number"
	kindString  kind = "a string"
	kindList    kind = "a list"
	kindMap     kind = "a map"
)

func (v value) kind() kind {
	switch v.text[0] {
	case '{':
		return kindMap
	case '[':
		return kindList
	case '"':
		return kindString
	case 'n':
		return kindNull
	case 't', 'f':
		return kindBoolean
	default:
		return kindNumber
	}
}

func (v value) isMap() bool  { return v.kind() == kindMap }
func (v value) isList() bool { return v.kind() == kindList }

// emptyMap is a map that nobody has written.
func emptyMap() value {
	return value{text: []byte("{}"), parts: &parts{end: []byte("}")}}
}

// manyMembers is from where on an index is worth its memory.
const manyMembers = 8

// find returns the member with a key; nil for none. It holds until members are added.
func (p *parts) find(key string) *member {
	if p.index != nil {
		if i, found := p.index[key]; found {
			return &p.members[i]
		}
		return nil
	}
	for i := range p.members {
		if p.members[i].key == key {
			return &p.members[i]
		}
	}
	return nil
}

// add puts a member with a new key behind the others.
func (p *parts) add(m member) {
	p.members = append(p.members, m)
	switch {
	case p.index != nil:
		p.index[m.key] = len(p.members) - 1
	case len(p.members) > manyMembers:
		p.index = make(map[string]int, 2*manyMembers)
		for i, m := range p.members {
			p.index[m.key] = i
		}
	}
}

// inOrder are the indices of the members in the order of their keys.
func (p *parts) inOrder() []int {
	order := make([]int, len(p.members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p.members[a].key, p.members[b].key) })
	return order
}

// find follows a path. It returns what is there, or nil; and in either case says what that
// is: "nothing there", for example.
func (v value) find(path Path) (found *member, what string) {
	keys := path.keys()
	for i, key := range keys {
		if !v.isMap() {
			return nil, string(v.kind()) + " at " + shown(path.upTo(i).String()) + ", which no path leads through"
		}
		if found = v.parts.find(key); found == nil {
			return nil, "nothing there"
		}
		v = found.value
	}
	return found, string(v.kind()) + " there"
}

// appendTo writes a value: what was added or put in another's place, and the bytes of what
// was not.
func (v value) appendTo(out []byte) []byte {
	if v.parts == nil {
		return append(out, v.text...)
	}
	out = append(out, v.text[0])
	for i, m := range v.parts.members {
		if m.lead != nil {
			out = append(out, m.lead...)
		} else {
			if i > 0 {
				out = append(out, ',')
			}
			if m.name != nil {
				out = append(append(out, m.name...), ':')
			}
		}
		out = m.value.appendTo(out)
	}
	return append(out, v.parts.end...)
}

// nameOf is a key as JSON.
func nameOf(key string) []byte {
	var name strings.Builder
	encoder := json.NewEncoder(&name)
	encoder.SetEscapeHTML(false)
	// A string can always be encoded, and is followed by a newline.
	_ = encoder.Encode(key)
	return []byte(strings.TrimSuffix(name.String(), "\n"))
}
