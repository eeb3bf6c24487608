package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

func TestUnsetPathsAreNull(t *testing.T) {
	for name, c := range map[string]struct {
		values, override string
		unset            []string
		want             string
		shadowed         []string
	}{
		"a scalar":             {`{"a":{"b": 1, "c":2}}`, ``, []string{"a.b"}, `{"a":{"b": null, "c":2}}`, []string{"a.b"}},
		"a map":                {`{"a":{"b":{"c":1}}}`, ``, []string{"a"}, `{"a":null}`, []string{"a"}},
		"a list":               {`{"a":[1]}`, `{"b":1}`, []string{"a"}, `{"a":null,"b":1}`, []string{"a"}},
		"null":                 {`{"a":null}`, ``, []string{"a"}, `{"a":null}`, nil},
		"nothing":              {`{"a":{}}`, ``, []string{"a.b", "c"}, `{"a":{"b":null},"c":null}`, nil},
		"nothing on the way":   {`{"a":1}`, ``, []string{"b.c.d"}, `{"a":1,"b":{"c":{"d":null}}}`, nil},
		"nothing at all":       {``, ``, []string{"b.d", "b.c", "a"}, `{"a":null,"b":{"c":null,"d":null}}`, nil},
		"a key with a dot":     {`{"n":{"kubernetes.io/arch":"arm64","kubernetes":{"io/arch":1}}}`, ``, []string{`n.kubernetes\.io/arch`}, `{"n":{"kubernetes.io/arch":null,"kubernetes":{"io/arch":1}}}`, []string{`n.kubernetes\.io/arch`}},
		"a key to be escaped":  {``, ``, []string{`a"<b>\\`}, `{"a\"<b>\\":null}`, nil},
		"in the override":      {`{"a":5}`, `{"a":{"b":1},"n":{"x":{}}}`, []string{"a.c", "n.x.y"}, `{"a":{"b":1,"c":null},"n":{"x":{"y":null}}}`, []string{"a"}},
		"beside the override":  {`{"a":{"b":1,"c":2}}`, `{"a":{"b":3}}`, []string{"a.c"}, `{"a":{"b":3,"c":null}}`, []string{"a.b", "a.c"}},
		"many keys in one map": {`{}`, ``, strings.Split("k1,k2,k3,k4,k5,k6,k7,k8,k9", ","), `{"k1":null,"k2":null,"k3":null,"k4":null,"k5":null,"k6":null,"k7":null,"k8":null,"k9":null}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			result := merged(t, c.values, merge.Override{Values: []byte(c.override), Unset: paths(t, c.unset...)})
			if got := string(result.Values); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := texts(result.Shadowed); !slices.Equal(got, c.shadowed) {
				t.Errorf("shadowed: %q, want %q", got, c.shadowed)
			}
			for _, unset := range c.unset {
				if !slices.Contains(texts(result.Overridden), unset) {
					t.Errorf("%s is not among the overridden %q", unset, texts(result.Overridden))
				}
			}
			if len(result.Idle) > 0 {
				t.Errorf("without effect: %+v", result.Idle)
			}
		})
	}
}

func TestUnsetStopsAtWhatIsNoMap(t *testing.T) {
	values := `{"bool":true,"list":[{"a":1}],"null":null,"number":1,"string":"x"}`
	result := merged(t, values, merge.Override{
		Values: []byte(`{"map":{"scalar":1}}`),
		Unset:  paths(t, "bool.a", "list.a", "list.0.a", "null.a", "number.a", "string.a.b", "map.scalar.a"),
	})
	if got, want := string(result.Values), strings.TrimSuffix(values, "}")+`,"map":{"scalar":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := texts(result.Overridden); !slices.Equal(got, []string{"map.scalar"}) {
		t.Errorf("overridden: %q", got)
	}
	want := []string{
		"bool.a: there is a boolean at bool, which no path leads through",
		"list.0.a: there is a list at list, which no path leads through",
		"list.a: there is a list at list, which no path leads through",
		"map.scalar.a: there is a number at map.scalar, which no path leads through",
		"null.a: there is null at null, which no path leads through",
		"number.a: there is a number at number, which no path leads through",
		"string.a.b: there is a string at string, which no path leads through",
	}
	if got := idle(t, result, merge.PartUnset); !slices.Equal(got, want) {
		t.Errorf("without effect: %q\nwant %q", got, want)
	}
}

// idle writes down what does nothing, all of which is of one part.
func idle(t *testing.T, result merge.Result, part merge.Part) []string {
	t.Helper()
	var said []string
	for _, one := range result.Idle {
		if one.Part != part {
			t.Errorf("%s %s: want %s only", one.Part, one.Path, part)
		}
		said = append(said, one.Path.String()+": "+one.Why)
	}
	return said
}
