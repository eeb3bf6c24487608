package merge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// appendList puts the override's items after the Package's.
func (m *merger) appendList(into *value, r *rule, path Path) error {
	if err := readItems(into); err != nil {
		return err
	}
	m.result.Overridden = append(m.result.Overridden, path)
	for _, item := range r.member.value.parts.members {
		into.parts.members = append(into.parts.members, member{value: item.value})
	}
	return nil
}

// identity is what tells an item from the others of its list.
type identity struct {
	kind kind
	// content is a string's, or the text of another scalar.
	content string
}

// String has quotes only where a string could be taken for something else.
func (i identity) String() string {
	if i.kind == kindString && json.Valid([]byte(i.content)) {
		return string(nameOf(i.content))
	}
	return i.content
}

// mergeByKey merges the override's items into those of the Package's that have the same
// identity, and puts the others after them.
func (m *merger) mergeByKey(into *value, r *rule, path Path) error {
	if err := readItems(into); err != nil {
		return err
	}
	identities, err := r.identify(*into, "the Package's")
	if err != nil {
		return err
	}
	known := make(map[identity]int, len(identities))
	for i, identity := range identities {
		known[identity] = i
	}
	given := r.member.value.parts.members
	isNew := make([]bool, len(given))
	steps, order := r.steps()
	for _, i := range order {
		at := beneath(&path, steps[i])
		j, found := known[r.identities[i]]
		if !found {
			isNew[i] = true
			m.overridden(given[i].value, at)
		} else if err := m.mergeMap(into.parts.members[j].value.parts, withoutKey(given[i].value.parts, r.Key), at); err != nil {
			return err
		}
	}
	for i, item := range given {
		if isNew[i] {
			into.parts.members = append(into.parts.members, member{value: item.value})
		}
	}
	return nil
}

// withoutKey leaves out the key that an item was found by.
func withoutKey(item *parts, key string) *parts {
	others := &parts{}
	for _, m := range item.members {
		if m.key != key {
			others.add(m)
		}
	}
	return others
}

// steps are those of a path to the items of the override's list, and the order that they
// have in paths.
func (r *rule) steps() (steps []string, order []int) {
	for i, identity := range r.identities {
		order = append(order, i)
		steps = append(steps, "["+r.Key+"="+identity.String()+"]")
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(steps[a], steps[b]) })
	return steps, order
}

// identify tells the items of a list apart.
func (r *rule) identify(items value, whose string) ([]identity, error) {
	identities := make([]identity, 0, len(items.parts.members))
	seen := make(map[identity]int, len(items.parts.members))
	for i, item := range items.parts.members {
		found, err := identify(item.value, r.Key)
		if err != nil {
			return nil, fmt.Errorf("cannot merge the lists at %s by key: item [%d] of %s list %w", shown(r.Path.String()), i, whose, err)
		}
		if other, isSeen := seen[found]; isSeen {
			// What they have there is not said: any value may be a password.
			return nil, fmt.Errorf("cannot merge the lists at %s by key: items [%d] and [%d] of %s list have the same %q: take one out, or replace the list",
				shown(r.Path.String()), other, i, whose, shown(r.Key))
		}
		seen[found] = i
		identities = append(identities, found)
	}
	return identities, nil
}

// identify tells an item by its key.
func identify(item value, key string) (identity, error) {
	if !item.isMap() {
		return identity{}, fmt.Errorf("is %s: only maps can be told apart by a key", item.kind())
	}
	found := item.parts.find(key)
	if found == nil || found.value.kind() == kindNull {
		return identity{}, fmt.Errorf("has no %q: give it one, or replace the list", shown(key))
	}
	switch found.value.kind() {
	case kindList, kindMap:
		return identity{}, fmt.Errorf("has %s as %q: only by a string, a number or a boolean can it be told apart", found.value.kind(), shown(key))
	case kindString:
		var content string
		if err := json.Unmarshal(found.value.text, &content); err != nil {
			return identity{}, err
		}
		return identity{kind: kindString, content: content}, nil
	default:
		return identity{kind: found.value.kind(), content: string(found.value.text)}, nil
	}
}
