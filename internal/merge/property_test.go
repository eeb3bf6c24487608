package merge_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// TestMergeIsThatOfTheModel draws values and overrides.
func TestMergeIsThatOfTheModel(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(2500) {
		d := newDraw(seed)
		values := d.document()
		count[compareWithModel(t, []byte(values), d.override(values))]++
	}
	for what, least := range map[string]int{
		"merged": 500, "merged with lists by Append": 50, "merged with lists by MergeByKey": 50, "refused": 50, "not told apart": 10,
	} {
		if count[what] < least {
			t.Errorf("%d of the draws were %s, want %d: %v", count[what], what, least, count)
		}
	}
}

// FuzzMerge has any text as values, and any rules. Of these each is in a line of its own:
// a path after - to unset, + to append, or * to merge by the key "name".
func FuzzMerge(f *testing.F) {
	for seed := range uint64(100) {
		d := newDraw(seed)
		values := d.document()
		override := d.override(values)
		var rules []string
		for _, path := range override.Unset {
			rules = append(rules, "-"+path.String())
		}
		for _, rule := range override.Lists {
			rules = append(rules, map[merge.Strategy]string{merge.Append: "+", merge.MergeByKey: "*"}[rule.Strategy]+rule.Path.String())
		}
		f.Add(values, string(override.Values), strings.Join(rules, "\n"))
	}
	f.Fuzz(func(t *testing.T, values, over, rules string) {
		override := merge.Override{Values: []byte(over)}
		for line := range strings.Lines(rules) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" {
				continue
			}
			path, err := merge.ParsePath(line[1:])
			if err != nil || strings.Contains(line, separator) {
				continue
			}
			switch line[0] {
			case '-':
				override.Unset = append(override.Unset, path)
			case '+':
				override.Lists = append(override.Lists, merge.ListRule{Path: path, Strategy: merge.Append})
			case '*':
				override.Lists = append(override.Lists, merge.ListRule{Path: path, Strategy: merge.MergeByKey, Key: "name"})
			}
		}
		compareWithModel(t, []byte(values), override)
	})
}

// compareWithModel merges by the model too, and says what came of it.
func compareWithModel(t *testing.T, values []byte, override merge.Override) string {
	t.Helper()
	result, err := merge.Merge(values, override)
	invalid := override.Validate()
	if good := isGood(values) && isGood(override.Values); !good {
		if err == nil {
			t.Fatalf("merged\n%q over\n%q", override.Values, values)
		}
		return "no map"
	}
	if invalid != nil {
		if err == nil || strings.Contains(err.Error(), "cannot read") {
			t.Fatalf("%q over\n%q: %v, and validated %v", override.Values, values, err, invalid)
		}
		return "refused"
	}
	m, want, told := modelOf(values, override)
	if told != (err == nil) {
		t.Fatalf("%q over\n%q: %v, and the model tells items apart: %v", override.Values, values, err, told)
	}
	if !told {
		return "not told apart"
	}
	if got := decoded(result.Values); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q over\n%q, unset %q, lists %v is\n%q, want\n%q", override.Values, values, override.Unset, override.Lists, result.Values, want)
	}
	for what, both := range map[string][2][]string{
		"overridden": {texts(result.Overridden), written(m.overridden)},
		"shadowed":   {texts(result.Shadowed), written(m.shadowed)},
		"replaced":   {replaced(result), lengths(m.replaced)},
	} {
		if !slices.Equal(both[0], both[1]) {
			t.Fatalf("%q over\n%q, unset %q, lists %v: %s\n%q, want\n%q", override.Values, values, override.Unset, override.Lists, what, both[0], both[1])
		}
	}
	wantStable(t, values, override, result)
	for _, rule := range override.Lists {
		if !slices.ContainsFunc(result.Idle, func(one merge.Idle) bool { return one.Part == merge.PartListMerge && one.Path.Compare(rule.Path) == 0 }) {
			return "merged with lists by " + string(rule.Strategy)
		}
	}
	return "merged"
}

// wantStable looks at what holds for any override.
func wantStable(t *testing.T, values []byte, override merge.Override, result merge.Result) {
	t.Helper()
	again := merged(t, string(values), override)
	if !reflect.DeepEqual(again, result) {
		t.Fatalf("%q over\n%q is once %+v and once %+v", override.Values, values, result, again)
	}
	// The result is as readable as what came in, and nothing over it is it.
	if same := merged(t, string(result.Values), merge.Override{}); !bytes.Equal(same.Values, result.Values) {
		t.Fatalf("%q became %q", result.Values, same.Values)
	}
	// The override's values, and then the paths, are the override.
	first := merged(t, string(values), merge.Override{Values: override.Values, Lists: override.Lists})
	second := merged(t, string(first.Values), merge.Override{Unset: override.Unset})
	if !bytes.Equal(second.Values, result.Values) {
		t.Fatalf("%q over\n%q: unset in one go %q, and afterwards %q", override.Values, values, result.Values, second.Values)
	}
	// Keys stay in order, and new ones follow.
	if order := keys(result.Values); !isBeginning(keys(values), order) {
		t.Fatalf("%q over\n%q has keys in the order %q", override.Values, values, order)
	}
	if slices.ContainsFunc(override.Lists, func(r merge.ListRule) bool { return r.Strategy == merge.Append }) {
		return
	}
	// But for what is appended, doing it twice is doing it once.
	if twice := merged(t, string(result.Values), override); !bytes.Equal(twice.Values, result.Values) {
		t.Fatalf("%q over\n%q is\n%q, and over that\n%q", override.Values, values, result.Values, twice.Values)
	}
}

// written are the model's paths as they are written.
func written(found []string) []string {
	said := []string{}
	for _, path := range found {
		said = append(said, joined(strings.Split(path, separator)))
	}
	return said
}

func lengths(found []string) []string {
	said := []string{}
	for _, one := range found {
		i := strings.LastIndex(one, separator)
		said = append(said, joined(strings.Split(one[:i], separator))+" "+one[i+len(separator):])
	}
	return said
}

// keys are those at the top, in order.
func keys(text []byte) []string {
	var found []string
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			panic(err)
		}
		found = append(found, key.(string))
		var skipped json.RawMessage
		if err := decoder.Decode(&skipped); err != nil {
			panic(err)
		}
	}
	return found
}

// isBeginning says whether the first are those that the others begin with.
func isBeginning(first, all []string) bool {
	return len(first) <= len(all) && slices.Equal(first, all[:len(first)])
}
