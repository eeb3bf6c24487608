package merge_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// path is one that is right.
func path(t testing.TB, text string) merge.Path {
	t.Helper()
	parsed, err := merge.ParsePath(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func paths(t testing.TB, texts ...string) []merge.Path {
	t.Helper()
	var parsed []merge.Path
	for _, text := range texts {
		parsed = append(parsed, path(t, text))
	}
	return parsed
}

func TestPathLeadsThroughKeys(t *testing.T) {
	for text, keys := range map[string][]string{
		`a`:                                {"a"},
		`a.b`:                              {"a", "b"},
		`resources.limits.cpu`:             {"resources", "limits", "cpu"},
		`nodeSelector.kubernetes\.io/arch`: {"nodeSelector", "kubernetes.io/arch"},
		`a\\.b`:                            {`a\`, "b"},
		`a\\\.b`:                           {`a\.b`},
		`\.`:                               {"."},
		`0.[1].*.日本. a`:                    {"0", "[1]", "*", "日本", " a"},
		strings.Repeat("a.", 99) + "a":     slices.Repeat([]string{"a"}, 100),
	} {
		parsed := path(t, text)
		if parsed.String() != text {
			t.Errorf("%q became %q", text, parsed)
		}
		// Only a path that leads to the value makes it a null.
		document := strings.Repeat("}", len(keys))
		for i, key := range slices.Backward(keys) {
			inner := map[bool]string{true: "1", false: ""}[i == len(keys)-1]
			document = `{` + quoted(key) + `:` + inner + document
		}
		result := merged(t, document, merge.Override{Unset: []merge.Path{parsed}})
		if want := strings.Replace(document, ":1}", ":null}", 1); string(result.Values) != want {
			t.Errorf("%q leads elsewhere: %s, want %s", text, result.Values, want)
		}
	}
}

func TestWrongPathSaysTheMend(t *testing.T) {
	for text, mend := range map[string]string{
		``:                               "key 1 is empty: write one dot between two keys",
		`.`:                              "key 1 is empty",
		`.a`:                             "key 1 is empty",
		`a.`:                             "key 2 is empty",
		`a..b`:                           "key 2 is empty: write one dot between two keys, none at either end",
		`a.b\`:                           `a backslash in key 2 has neither a dot nor a backslash after it: write \\ for`,
		`a\b`:                            `a backslash in key 1 has neither`,
		"a\xff":                          "not UTF-8",
		strings.Repeat("a.", 100) + "a":  "more than 100 keys",
		strings.Repeat("é", 5000) + `\x`: "…",
	} {
		parsed, err := merge.ParsePath(text)
		if err == nil || !strings.Contains(err.Error(), mend) || !strings.HasPrefix(err.Error(), "cannot read the path ") {
			t.Errorf("%.20q: %q, %v, want %q", text, parsed, err, mend)
			continue
		}
		if len(err.Error()) > 500 || !utf8.ValidString(err.Error()) {
			t.Errorf("%.20q: an error of %d bytes", text, len(err.Error()))
		}
	}
}

// TestOrderOfPathsIsThatOfTheirKeys draws paths, and has none of the order of their texts:
// a dot, which is in these, comes after some of what keys have.
func TestOrderOfPathsIsThatOfTheirKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	draw := func() []string {
		keys := []string{}
		for range 1 + random.IntN(4) {
			keys = append(keys, []string{"a", "b", "a.b", "a-b", `a\`, "!"}[random.IntN(6)])
		}
		return keys
	}
	for range 5000 {
		a, b := draw(), draw()
		if got, want := path(t, joined(a)).Compare(path(t, joined(b))), slices.Compare(a, b); got != want {
			t.Fatalf("%q and %q: %d, want %d", a, b, got, want)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, text := range []string{"a", "a.b", `a\.b`, `a\\`, `a\`, "..", "a..b", ".a", "", "é.日本", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := merge.ParsePath(text)
		if err != nil {
			return
		}
		if parsed.String() != text {
			t.Errorf("%q became %q", text, parsed)
		}
		again, err := merge.ParsePath(parsed.String())
		if err != nil || !reflect.DeepEqual(again, parsed) || again.Compare(parsed) != 0 {
			t.Errorf("%q became %q, %v", parsed, again, err)
		}
	})
}
