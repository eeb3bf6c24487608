package removal_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestStoredIsLastManifestAndOthersFieldsAndDefaults plays random commits and edits of
// other fields by another hand, and looks at what is stored after each.
func TestStoredIsLastManifestAndOthersFieldsAndDefaults(t *testing.T) {
	for seed := range uint64(200) {
		playRandomly(t, seed)
	}
}

// FuzzStoredIsLastManifestAndOthersFieldsAndDefaults does the same from any seed.
func FuzzStoredIsLastManifestAndOthersFieldsAndDefaults(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { playRandomly(t, seed) })
}

func playRandomly(t *testing.T, seed uint64) {
	t.Helper()
	for name, s := range map[string]*server{
		"lists are merged":   merging(t, withSchema(t)),
		"lists are replaced": replacing(t, withSchema(t)),
	} {
		random := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // G404: a test's choice that can be made again
		var committed, others map[string]any
		for step := range 6 {
			var did string
			if step == 0 || random.IntN(3) > 0 {
				committed = manifestOf(random, git)
				s.apply(t, withContent(committed))
				did = "commit " + text(t, committed)
			} else {
				others = merge(others, manifestOf(random, console))
				s.edit(t, []byte(text(t, withContent(overlay(s.stored.Object["spec"].(map[string]any), others)))))
				did = "edit " + text(t, others)
			}
			want := expected(t, committed, others)
			if got := inOrder(s.content().Spec); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d, %s, after %s: got\n%s\nwant\n%s", seed, step, name, did, text(t, got), text(t, want))
			}
			before := s.stored.DeepCopy()
			if step > 0 && committed != nil {
				s.apply(t, withContent(committed))
				if !reflect.DeepEqual(s.stored, before) {
					t.Fatalf("seed %d, step %d, %s: applied again, it changed\n%s\nto\n%s", seed, step, name, text(t, before), text(t, s.stored))
				}
			}
		}
	}
}

// hand is whose fields are made: each hand has its own.
type hand struct{ name string }

var git, console = hand{"git"}, hand{"console"}

func withContent(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind, "spec": runtime.DeepCopyJSON(spec)}
}

// manifestOf makes a spec at random, of keys and list items that are this hand's alone.
// Lists have at most one hand's items beyond atomic ones, which are git's. No value is
// the schema's default.
func manifestOf(random *rand.Rand, of hand) map[string]any {
	spec := map[string]any{}
	maybe := func(do func()) {
		if random.IntN(2) == 0 {
			do()
		}
	}
	value := func() string { return fmt.Sprintf("%s-%d", of.name, random.IntN(100)) }
	if of == git {
		maybe(func() { spec["replicas"] = int64(3 + random.IntN(9)) })
		maybe(func() { spec["password"] = value() })
		maybe(func() { spec["allowedRanges"] = []any{value(), value()} })
		maybe(func() { spec["resources"] = map[string]any{"preset": value()} })
		maybe(func() { spec["parameters"] = map[string]any{} })
	} else {
		maybe(func() { spec["size"] = value() })
		maybe(func() { spec["resources"] = map[string]any{"cpu": value()} })
	}
	backup := map[string]any{}
	if of == git {
		maybe(func() { backup["schedule"] = value() })
		maybe(func() { backup["retention"] = map[string]any{"days": int64(8 + random.IntN(9))} })
	} else {
		maybe(func() { backup["retention"] = map[string]any{"copies": int64(random.IntN(9))} })
	}
	if len(backup) > 0 {
		spec["backup"] = backup
	}
	for _, part := range []string{"parameters", "users"} {
		entries := map[string]any{}
		for i := range 3 {
			maybe(func() {
				key := fmt.Sprintf("%s.%d/%q", of.name, i, "k")
				if part == "parameters" {
					entries[key] = value()
				} else {
					entries[key] = map[string]any{"password": value()}
				}
			})
		}
		if len(entries) > 0 {
			spec[part] = entries
		}
	}
	maybe(func() { spec["custom-"+of.name] = deep(random, 3, value) })
	var databases []any
	for i := range 3 {
		maybe(func() {
			item := map[string]any{"name": fmt.Sprintf("%s-%d", of.name, i)}
			maybe(func() { item["owner"] = value() })
			maybe(func() { item["labels"] = map[string]any{"l" + value(): "x"} })
			databases = append(databases, item)
		})
	}
	if databases != nil {
		spec["databases"] = databases
	}
	return spec
}

// deep is anything, in the part of the spec that has no schema.
func deep(random *rand.Rand, depth int, value func() string) any {
	switch choice := random.IntN(5); {
	case choice == 0 || depth == 0:
		return value()
	case choice == 1:
		return []any{value(), map[string]any{"in": value()}}
	default:
		content := map[string]any{}
		for i := range random.IntN(4) {
			content[fmt.Sprintf("k%d", i)] = deep(random, depth-1, value)
		}
		return content
	}
}

// expected is, with no thought of how it comes about, the last manifest, the others'
// fields, and the defaults.
func expected(t *testing.T, committed, others map[string]any) map[string]any {
	t.Helper()
	spec := merge(committed, others)
	defaulting.Default(spec, structural(t))
	return inOrder(spec)
}

// inOrder has the databases sorted by name: in which order two hands' stand is the
// library's matter.
func inOrder(spec map[string]any) map[string]any {
	spec = runtime.DeepCopyJSON(spec)
	if databases, found := spec["databases"].([]any); found {
		slices.SortFunc(databases, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
		})
	}
	return spec
}

// overlay is what another hand sends: all that is there, with its own fields.
func overlay(stored, own map[string]any) map[string]any { return merge(stored, own) }

// merge lays one spec over another: maps by key, lists of maps by name.
func merge(under, over map[string]any) map[string]any {
	merged := map[string]any{}
	if under != nil {
		merged = runtime.DeepCopyJSON(under)
	}
	for key, value := range over {
		value = runtime.DeepCopyJSONValue(value)
		switch value := value.(type) {
		case map[string]any:
			below, _ := merged[key].(map[string]any)
			merged[key] = merge(below, value)
		case []any:
			if list, both := merged[key].([]any); both && key == "databases" {
				merged[key] = byName(list, value)
			} else {
				merged[key] = value
			}
		default:
			merged[key] = value
		}
	}
	return merged
}

func byName(under, over []any) []any {
	merged := append([]any{}, under...)
items:
	for _, item := range over {
		for i, known := range merged {
			if known.(map[string]any)["name"] == item.(map[string]any)["name"] {
				merged[i] = merge(known.(map[string]any), item.(map[string]any))
				continue items
			}
		}
		merged = append(merged, item)
	}
	return merged
}
