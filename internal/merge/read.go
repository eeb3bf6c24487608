package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is a map, with what stands before and after it.
type document struct {
	// absent: there was no text at all.
	absent        bool
	before, after []byte
	root          value
}

// appendTo writes a document; nothing where it was absent and nothing was put into it.
func (d *document) appendTo(out []byte) []byte {
	if d.absent && len(d.root.parts.members) == 0 {
		return out
	}
	return append(d.root.appendTo(append(out, d.before...)), d.after...)
}

// unreadable is an error with the way to where it is, from there to the top.
type unreadable struct {
	way []string
	why string
}

func (u *unreadable) Error() string {
	if len(u.way) == 0 {
		return u.why
	}
	path := Path{}
	for _, step := range slices.Backward(u.way) {
		parent := path
		path = beneath(&parent, step)
	}
	return shown(path.String()) + ": " + u.why
}

// inside adds a step of the way.
func inside(step string, err error) error {
	var u *unreadable
	if errors.As(err, &u) {
		u.way = append(u.way, step)
	}
	return err
}

func unreadablef(format string, args ...any) error {
	return &unreadable{why: fmt.Sprintf(format, args...)}
}

// reader reads JSON with the texts of all that is in it. It knows maps and lists itself,
// and leaves it to the standard library whether a key or a scalar is right: to read token
// by token there takes a multiple of the time and memory.
type reader struct {
	text []byte
	at   int
}

// readDocument reads a map, or nothing at all.
func readDocument(text []byte) (*document, error) {
	if len(text) == 0 {
		return &document{absent: true, root: emptyMap()}, nil
	}
	if !utf8.Valid(text) {
		return nil, errors.New("invalid JSON: it is not UTF-8")
	}
	r := &reader{text: text}
	root, err := r.value(0, false)
	if err != nil {
		return nil, err
	}
	if !root.isMap() {
		return nil, fmt.Errorf("a map is wanted at the top, not %s", root.kind())
	}
	d := &document{before: text[:r.at-len(root.text)], after: text[r.at:], root: root}
	if r.next() != 0 || r.at < len(text) {
		return nil, r.wanted("the end")
	}
	return d, nil
}

// readItems reads the items of a list that was read before.
func readItems(v *value) error {
	if v.parts != nil {
		return nil
	}
	r := &reader{text: v.text}
	again, err := r.value(0, true)
	if err != nil {
		return err
	}
	v.parts = again.parts
	return nil
}

// next goes on to what is no space, and returns it; zero at the end.
func (r *reader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// wanted is the error for what stands here.
func (r *reader) wanted(what string) error {
	if r.at >= len(r.text) {
		return unreadablef("invalid JSON: it ends where %s is wanted", what)
	}
	here, _ := utf8.DecodeRune(r.text[r.at:])
	return unreadablef("invalid JSON: %q stands at byte %d, where %s is wanted", here, r.at, what)
}

// value reads the next one, which lies so many maps and lists deep. It keeps the items of
// a list if it is to.
func (r *reader) value(depth int, keepItems bool) (v value, err error) {
	opening := r.next()
	start := r.at
	switch opening {
	case '{', '[':
		if depth == MaxDepth {
			return value{}, unreadablef("more than %d maps and lists lie in each other: take some out", MaxDepth)
		}
		r.at++
		if opening == '{' {
			v.parts, err = r.members(depth + 1)
		} else {
			v.parts, v.length, err = r.items(depth+1, keepItems)
		}
	default:
		err = r.scalar()
	}
	v.text = r.text[start:r.at]
	return v, err
}

// scalar reads a string, a number or a word.
func (r *reader) scalar() error {
	start := r.at
	if r.at < len(r.text) && r.text[r.at] == '"' {
		for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
			if r.text[r.at] == '\\' {
				r.at++
			}
		}
		r.at = min(r.at+1, len(r.text))
	} else {
		for r.at < len(r.text) && strings.IndexByte(" \t\r\n,:\"[]{}", r.text[r.at]) < 0 {
			r.at++
		}
	}
	if !json.Valid(r.text[start:r.at]) {
		r.at = start
		return r.wanted("a value")
	}
	return nil
}

// members reads what is in a map, to its end.
func (r *reader) members(depth int) (*parts, error) {
	p := &parts{}
	end := r.at
	for c := r.next(); c != '}'; c = r.next() {
		if len(p.members) > 0 {
			if c != ',' {
				return nil, r.wanted("a comma or }")
			}
			r.at++
			c = r.next()
		}
		if c != '"' {
			return nil, r.wanted("a key")
		}
		m, err := r.key()
		if err != nil {
			return nil, err
		}
		if p.find(m.key) != nil {
			return nil, inside(m.key, unreadablef("the map has this key twice: take one out"))
		}
		if m.value, err = r.value(depth, false); err != nil {
			return nil, inside(m.key, err)
		}
		m.lead = r.text[end : r.at-len(m.value.text)]
		end = r.at
		p.add(m)
	}
	r.at++
	p.end = r.text[end:r.at]
	return p, nil
}

// key reads a member's key, and the colon.
func (r *reader) key() (member, error) {
	start := r.at
	if err := r.scalar(); err != nil {
		return member{}, r.wanted("a key")
	}
	m := member{name: r.text[start:r.at]}
	if bytes.IndexByte(m.name, '\\') < 0 {
		m.key = string(m.name[1 : len(m.name)-1])
	} else if err := json.Unmarshal(m.name, &m.key); err != nil {
		return member{}, err
	}
	if r.next() != ':' {
		return member{}, inside(m.key, r.wanted("a colon"))
	}
	r.at++
	return m, nil
}

// items reads what is in a list, to its end; it returns parts if it is to keep them.
func (r *reader) items(depth int, keep bool) (p *parts, length int, err error) {
	if keep {
		p = &parts{}
	}
	end := r.at
	for c := r.next(); c != ']'; c = r.next() {
		if length > 0 {
			if c != ',' {
				return nil, 0, r.wanted("a comma or ]")
			}
			r.at++
		}
		item, err := r.value(depth, false)
		if err != nil {
			return nil, 0, inside("["+strconv.Itoa(length)+"]", err)
		}
		if keep {
			p.members = append(p.members, member{lead: r.text[end : r.at-len(item.text)], value: item})
		}
		end = r.at
		length++
	}
	r.at++
	if keep {
		p.end = r.text[end:r.at]
	}
	return p, length, nil
}

// sameContent says whether two valid texts mean the same, numbers by their text.
func sameContent(a, b []byte) bool {
	return reflect.DeepEqual(decode(a), decode(b))
}

// decode reads valid JSON.
func decode(text []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var content any
	_ = decoder.Decode(&content) // it was read before
	return content
}
