package merge_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// draw makes documents as text, with spaces where there may be some, from few keys: so
// that two documents meet.
type draw struct {
	*rand.Rand
	// byShape has each key hold either maps or other values in all documents.
	byShape bool
	// plain has no spaces, and each value has one text.
	plain bool
}

func newDraw(seed uint64) *draw { return &draw{Rand: rand.New(rand.NewPCG(seed, 11))} }

var (
	mapKeys  = []string{"m", "n", "k.8/s", `\`}
	listKeys = []string{"l", "list", "l.l"}
	leafKeys = []string{"a", "b", "c", "a.b", "", " ", "é", "日本", "<&>", "\"", "name", "value", "null", "[0]", "x", "y", "z"}
	scalars  = []string{
		"null", "true", "false", "0", "-0", "1", "1.0", "1e3", "1E3", "1000", "10000000000000001", "10000000000000002", "0.1", "1e400",
		`""`, `"a"`, `"A"`, `"é"`, `"<&>"`, `"null"`, `"1"`, `"\n"`,
	}
)

func pick[T any](d *draw, from []T) T { return from[d.IntN(len(from))] }

func (d *draw) space() string {
	if d.plain {
		return ""
	}
	return pick(d, []string{"", "", "", " ", "\n\t"})
}

// document is absent at times.
func (d *draw) document() string {
	if d.IntN(20) == 0 {
		return ""
	}
	return d.space() + d.mapping(3) + d.space()
}

func (d *draw) mapping(depth int) string {
	var keys []string
	for range d.IntN(4 + 3*depth) {
		key := pick(d, [][]string{mapKeys, listKeys, leafKeys}[d.IntN(3)])
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	members := make([]string, 0, len(keys))
	for _, key := range keys {
		members = append(members, d.space()+d.text(key)+d.space()+":"+d.space()+d.under(key, depth)+d.space())
	}
	return "{" + strings.Join(members, ",") + d.emptySpace(members) + "}"
}

func (d *draw) emptySpace(members []string) string {
	if len(members) > 0 {
		return ""
	}
	return d.space()
}

// under is a value for a key.
func (d *draw) under(key string, depth int) string {
	isMap, isList := slices.Contains(mapKeys, key), slices.Contains(listKeys, key)
	if !d.byShape && d.IntN(4) == 0 {
		isMap, isList = d.IntN(3) == 0, d.IntN(2) == 0
	}
	switch {
	case isMap && depth > 0:
		return d.mapping(depth - 1)
	case isMap:
		return "{}"
	case isList:
		return d.list(depth)
	default:
		return d.scalar()
	}
}

func (d *draw) scalar() string { return pick(d, scalars) }

// list is of any values, or of maps that are named, mostly each by a name of its own.
func (d *draw) list(depth int) string {
	var items []string
	named := d.IntN(3) > 0
	names := []string{`"A"`, `"B"`, `"C"`, `"é"`, "1", "1.0", `"1"`, "true"}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i := range d.IntN(4) {
		item := d.scalar()
		if named {
			name := names[i]
			if d.IntN(20) == 0 {
				name = pick(d, []string{"null", "[]", `"A"`})
			}
			item = `{"name":` + name + `,` + d.space() + `"v":` + d.scalar() + pick(d, []string{`}`, `,"l":[1]}`, `,"l":[2,3],"m":{"x":1}}`, `,"m":{"y":null}}`})
		} else if depth > 0 && d.IntN(3) == 0 {
			item = d.under("l", depth-1)
		}
		items = append(items, d.space()+item+d.space())
	}
	return "[" + strings.Join(items, ",") + d.emptySpace(items) + "]"
}

// text is a key in one of the ways it can be written.
func (d *draw) text(key string) string {
	if key == "é" && !d.plain && d.IntN(2) == 0 {
		return `"\u00e9"`
	}
	return quoted(key)
}

// override has rules and paths for keys that documents have, mostly for lists that are in
// these values too.
func (d *draw) override(values string) merge.Override {
	override := merge.Override{Values: []byte(d.document())}
	for range d.IntN(3) {
		override.Unset = append(override.Unset, d.path(leafKeys))
	}
	both := listsOfBoth(decoded([]byte(values)), decoded(override.Values), nil)
	for range d.IntN(3) {
		rule := merge.ListRule{Path: d.path(listKeys), Strategy: merge.Append}
		if len(both) > 0 && d.IntN(4) > 0 {
			rule.Path = pick(d, both)
		}
		if d.IntN(3) > 0 {
			rule.Strategy, rule.Key = merge.MergeByKey, "name"
		}
		override.Lists = append(override.Lists, rule)
	}
	return override
}

// listsOfBoth are the paths where two documents have lists.
func listsOfBoth(a, b map[string]any, path []string) (found []merge.Path) {
	for _, key := range slices.Sorted(maps.Keys(a)) {
		at := append(slices.Clone(path), key)
		switch inner := a[key].(type) {
		case map[string]any:
			if other, both := b[key].(map[string]any); both {
				found = append(found, listsOfBoth(inner, other, at)...)
			}
		case []any:
			parsed, err := merge.ParsePath(joined(at))
			if _, both := b[key].([]any); both && err == nil {
				found = append(found, parsed)
			}
		}
	}
	return found
}

// path leads mostly through keys of maps.
func (d *draw) path(last []string) merge.Path {
	var keys []string
	for range max(0, d.IntN(5)-2) {
		keys = append(keys, pick(d, mapKeys))
	}
	if d.IntN(9) == 0 {
		keys = append(keys, pick(d, listKeys))
	}
	key := pick(d, last)
	if key == "" {
		key = "new"
	}
	parsed, err := merge.ParsePath(joined(append(keys, key)))
	if err != nil {
		panic(err)
	}
	return parsed
}
