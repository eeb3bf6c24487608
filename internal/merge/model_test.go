package merge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// model is the merge once more, of decoded values, with no thought of texts and order. A
// number is a json.Number, which is its text.
type model struct {
	lists map[string]merge.ListRule
	// Paths are keys joined by a character that no path in the tests has.
	overridden, shadowed, replaced []string
}

const separator = "\x01"

func decoded(text []byte) map[string]any {
	content := map[string]any{}
	if len(text) == 0 {
		return content
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		panic(err)
	}
	return content
}

// modelOf merges an override that is valid; not ok where a list cannot be merged by key.
func modelOf(values []byte, override merge.Override) (m *model, content map[string]any, ok bool) {
	defer func() {
		switch recovered := recover().(type) {
		case nil:
		case notTold:
			ok = false
		default:
			panic(recovered)
		}
	}()
	m = &model{lists: map[string]merge.ListRule{}}
	for _, rule := range override.Lists {
		m.lists[strings.Join(split(rule.Path), separator)] = rule
	}
	content = m.maps(decoded(values), decoded(override.Values), nil)
	for _, path := range override.Unset {
		m.unset(content, split(path))
	}
	for _, found := range []*[]string{&m.overridden, &m.shadowed, &m.replaced} {
		slices.SortFunc(*found, func(a, b string) int { return slices.Compare(strings.Split(a, separator), strings.Split(b, separator)) })
	}
	return m, content, true
}

// split are the keys of a path.
func split(path merge.Path) []string {
	keys := []string{""}
	escaped := false
	for _, c := range path.String() {
		last := len(keys) - 1
		switch {
		case escaped:
			keys[last] += string(c)
			escaped = false
		case c == '\\':
			escaped = true
		case c == '.':
			keys = append(keys, "")
		default:
			keys[last] += string(c)
		}
	}
	return keys
}

func (m *model) maps(under, over map[string]any, path []string) map[string]any {
	result := maps.Clone(under)
	for key, given := range over {
		at := append(slices.Clone(path), key)
		if known, found := under[key]; found {
			result[key] = m.values(known, given, at)
		} else {
			m.leaves(given, at)
			result[key] = given
		}
	}
	return result
}

func (m *model) values(under, over any, path []string) any {
	at := strings.Join(path, separator)
	switch over := over.(type) {
	case map[string]any:
		if under, both := under.(map[string]any); both {
			return m.maps(under, over, path)
		}
	case []any:
		under, both := under.([]any)
		if rule, found := m.lists[at]; both && found {
			return m.list(under, over, rule, path)
		}
		if both && !reflect.DeepEqual(under, over) {
			m.replaced = append(m.replaced, fmt.Sprintf("%s%s%d to %d", at, separator, len(under), len(over)))
		}
	}
	m.leaves(over, path)
	if !reflect.DeepEqual(under, over) {
		m.shadowed = append(m.shadowed, at)
	}
	return over
}

func (m *model) leaves(given any, path []string) {
	if content, isMap := given.(map[string]any); isMap && len(content) > 0 {
		for key, inner := range content {
			m.leaves(inner, append(slices.Clone(path), key))
		}
		return
	}
	m.overridden = append(m.overridden, strings.Join(path, separator))
}

// notTold is what ends a merge of items that are not told apart.
type notTold struct{}

func (m *model) list(under, over []any, rule merge.ListRule, path []string) []any {
	if len(over) == 0 {
		return under
	}
	if rule.Strategy == merge.Append {
		m.overridden = append(m.overridden, strings.Join(path, separator))
		return append(slices.Clone(under), over...)
	}
	identify := func(item any) any {
		content, _ := item.(map[string]any)
		switch identity := content[rule.Key].(type) {
		case string, json.Number, bool:
			return identity
		}
		panic(notTold{})
	}
	for _, items := range [][]any{under, over} {
		for i := range items {
			for j := range i {
				if identify(items[i]) == identify(items[j]) {
					panic(notTold{})
				}
			}
			identify(items[i])
		}
	}
	inner := &model{}
	result := slices.Clone(under)
items:
	for _, given := range over {
		at := append(slices.Clone(path), fmt.Sprintf("[%s=%v]", rule.Key, shownAs(identify(given))))
		for i, known := range under {
			if identify(known) == identify(given) {
				others := maps.Clone(given.(map[string]any))
				delete(others, rule.Key)
				result[i] = inner.maps(known.(map[string]any), others, at)
				continue items
			}
		}
		inner.leaves(given, at)
		result = append(result, given)
	}
	m.overridden = append(m.overridden, inner.overridden...)
	m.shadowed = append(m.shadowed, inner.shadowed...)
	m.replaced = append(m.replaced, inner.replaced...)
	return result
}

func shownAs(identity any) any {
	if text, isString := identity.(string); isString && json.Valid([]byte(text)) {
		return quoted(text)
	}
	return identity
}

func (m *model) unset(content map[string]any, keys []string) {
	within := content
	for _, key := range keys[:len(keys)-1] {
		inner, found := within[key]
		if !found {
			inner = map[string]any{}
		}
		next, isMap := inner.(map[string]any)
		if !isMap {
			return
		}
		if next = maps.Clone(next); next == nil {
			next = map[string]any{}
		}
		within[key] = next
		within = next
	}
	last := keys[len(keys)-1]
	m.overridden = append(m.overridden, strings.Join(keys, separator))
	if was, found := within[last]; found && was != nil {
		m.shadowed = append(m.shadowed, strings.Join(keys, separator))
	}
	within[last] = nil
}

// isGood says whether values are to be accepted, found otherwise than by reading them: by
// what the standard library makes of them, and by counting colons and brackets.
func isGood(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	if !utf8.Valid(text) || !json.Valid(text) || !strings.HasPrefix(strings.TrimLeft(string(text), " \t\r\n"), "{") {
		return false
	}
	colons, depth, deepest := 0, 0, 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == ':':
			colons++
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest <= merge.MaxDepth && colons == countKeys(decoded(text))
}

func countKeys(content any) int {
	count := 0
	switch content := content.(type) {
	case map[string]any:
		count += len(content)
		for _, inner := range content {
			count += countKeys(inner)
		}
	case []any:
		for _, inner := range content {
			count += countKeys(inner)
		}
	}
	return count
}
