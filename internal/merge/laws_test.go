package merge_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// compact is a document without the spaces.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if len(text) > 0 {
		if err := json.Compact(&out, text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	return out.String()
}

// TestMergeOfMapsIsAssociative has three documents in which a key holds a map in all of
// them, or in none. Otherwise it cannot be: a map that replaces a scalar does not know
// whether that has replaced a map.
func TestMergeOfMapsIsAssociative(t *testing.T) {
	differ := 0
	for seed := range uint64(1500) {
		d := newDraw(seed)
		d.byShape = true
		a, b, c := d.document(), d.document(), d.document()
		left := merged(t, string(merged(t, a, of(b)).Values), of(c)).Values
		right := merged(t, a, of(string(merged(t, b, of(c)).Values))).Values
		if compact(t, left) != compact(t, right) {
			t.Fatalf("seed %d:\n%q\n%q\n%q: from the left\n%s\nfrom the right\n%s", seed, a, b, c, left, right)
		}
		if compact(t, left) != compact(t, []byte(a)) && compact(t, left) != compact(t, []byte(c)) {
			differ++
		}
	}
	if differ < 1000 {
		t.Errorf("in %d draws only does the merge make something new", differ)
	}
}

func TestEmptyOverrideIsIdentity(t *testing.T) {
	for seed := range uint64(1000) {
		values := newDraw(seed).document()
		for _, empty := range []string{"", "{}"} {
			if got := string(merged(t, values, of(empty)).Values); got != values {
				t.Fatalf("seed %d: %q became %q", seed, values, got)
			}
		}
		// What is there already changes nothing; and over nothing there is the override.
		if got := string(merged(t, values, of(values)).Values); got != values {
			t.Fatalf("seed %d: %q over itself became %q", seed, values, got)
		}
		alone := merged(t, "", of(values)).Values
		if want := strings.TrimSuffix(compact(t, []byte(values)), "{}"); compact(t, alone) != want {
			t.Fatalf("seed %d: %q over nothing became %q", seed, values, alone)
		}
	}
}

// lists draws documents of one list, and gives them to a test.
func lists(t *testing.T, named bool, test func(seed uint64, rules []merge.ListRule, a, b, c string)) {
	t.Helper()
	for seed := range uint64(1500) {
		d := newDraw(seed)
		d.plain = true
		rules := []merge.ListRule{{Path: path(t, "m.l"), Strategy: merge.Append}}
		if named {
			rules[0].Strategy, rules[0].Key = merge.MergeByKey, "name"
		}
		var three []string
		for len(three) < 3 {
			document := `{"m":{"l":` + d.list(2) + `}}`
			if !named || (merge.Override{Values: []byte(document), Lists: rules}).Validate() == nil {
				three = append(three, document)
			}
		}
		test(seed, rules, three[0], three[1], three[2])
	}
}

func items(t *testing.T, document []byte) []json.RawMessage {
	t.Helper()
	var content struct{ M struct{ L []json.RawMessage } }
	if err := json.Unmarshal(document, &content); err != nil {
		t.Fatal(err)
	}
	return content.M.L
}

func TestAppendedItemsFollow(t *testing.T) {
	lists(t, false, func(seed uint64, rules []merge.ListRule, a, b, c string) {
		over := func(values, override string) string {
			return string(merged(t, values, merge.Override{Values: []byte(override), Lists: rules}).Values)
		}
		both := over(a, b)
		got, want := items(t, []byte(both)), append(items(t, []byte(a)), items(t, []byte(b))...)
		if len(got) != len(want) {
			t.Fatalf("seed %d: %s and %s are %s", seed, a, b, both)
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("seed %d: %s and %s are %s", seed, a, b, both)
			}
		}
		if left, right := over(both, c), over(a, over(b, c)); left != right {
			t.Fatalf("seed %d: from the left %s, from the right %s", seed, left, right)
		}
	})
}

func TestItemsThatAreMergedByKeyKeepTheirPlaces(t *testing.T) {
	lists(t, true, func(seed uint64, rules []merge.ListRule, a, b, c string) {
		over := func(values, override string) string {
			return string(merged(t, values, merge.Override{Values: []byte(override), Lists: rules}).Values)
		}
		names := func(document string) (names []string) {
			for _, item := range items(t, []byte(document)) {
				var content struct{ Name json.RawMessage }
				if err := json.Unmarshal(item, &content); err != nil {
					t.Fatal(err)
				}
				names = append(names, string(content.Name))
			}
			return names
		}
		both := over(a, b)
		got, under := names(both), names(a)
		for _, name := range names(b) {
			if !slices.Contains(under, name) {
				under = append(under, name)
			}
		}
		if !slices.Equal(got, under) {
			t.Fatalf("seed %d: %s and %s are %s", seed, a, b, both)
		}
		if again := over(both, b); again != both {
			t.Fatalf("seed %d: %s is once more %s", seed, both, again)
		}
		if same := over(a, a); same != a {
			t.Fatalf("seed %d: %s by itself is %s", seed, a, same)
		}
		if left, right := over(both, c), over(a, over(b, c)); left != right {
			t.Fatalf("seed %d: from the left %s, from the right %s", seed, left, right)
		}
	})
}

// TestUnsetIsANullInTheOverride has the same come of a path as of a null there, unless
// something is in the way.
func TestUnsetIsANullInTheOverride(t *testing.T) {
	led := 0
	for seed := range uint64(1500) {
		d := newDraw(seed)
		values, unset := d.document(), d.path(leafKeys)
		keys := split(unset)
		null := "null"
		for i := len(keys) - 1; i >= 0; i-- {
			null = "{" + quoted(keys[i]) + ":" + null + "}"
		}
		result := merged(t, values, merge.Override{Unset: []merge.Path{unset}})
		want := merged(t, values, of(null))
		if len(result.Idle) > 0 {
			want = merged(t, values, merge.Override{})
		} else {
			led++
		}
		if compact(t, result.Values) != compact(t, want.Values) {
			t.Fatalf("seed %d: %s unset in %q is %s, want %s", seed, unset, values, result.Values, want.Values)
		}
	}
	if led < 500 || led == 1500 {
		t.Errorf("%d of 1500 paths led somewhere", led)
	}
}
