package merge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

func TestListsAreMergedWhereARuleSaysSo(t *testing.T) {
	appendAt := func(at string) merge.ListRule { return merge.ListRule{Path: path(t, at), Strategy: merge.Append} }
	byName := func(at string) merge.ListRule {
		return merge.ListRule{Path: path(t, at), Strategy: merge.MergeByKey, Key: "name"}
	}
	for name, c := range map[string]struct {
		values, override string
		rule             merge.ListRule
		want             string
		overridden       []string
	}{
		"appended": {
			`{"a":[1, 2 ],"b":[1]}`, `{"a":[ 2,{"x":1.0}],"b":[2]}`, appendAt("a"),
			`{"a":[1, 2,2,{"x":1.0} ],"b":[2]}`, []string{"a", "b"},
		},
		"appended to an empty list": {`{"a":[ ]}`, `{"a":[1,2]}`, appendAt("a"), `{"a":[1,2 ]}`, []string{"a"}},
		"an empty list appended":    {`{"a":[ 1 ]}`, `{"a":[]}`, appendAt("a"), `{"a":[ 1 ]}`, nil},
		"deep down": {
			`{"a":{"b.c":{"d":[1]}},"d":[1]}`, `{"a":{"b.c":{"d":[2]}},"d":[2]}`, appendAt(`a.b\.c.d`),
			`{"a":{"b.c":{"d":[1,2]}},"d":[2]}`, []string{`a.b\.c.d`, "d"},
		},
		"by key": {
			`{"env":[{"name":"A","value":"1"}, {"name":"B","value":"2","more":{"x":1}}]}`,
			`{"env":[{"name":"C","value":"3"},{"value":"4","name":"B","more":{"y":2}},{"name":"AA"}]}`, byName("env"),
			`{"env":[{"name":"A","value":"1"}, {"name":"B","value":"4","more":{"x":1,"y":2}},{"name":"C","value":"3"},{"name":"AA"}]}`,
			[]string{"env.[name=AA].name", "env.[name=B].more.y", "env.[name=B].value", "env.[name=C].name", "env.[name=C].value"},
		},
		"by key into an empty list": {`{"env":[]}`, `{"env":[{"name":"A"}]}`, byName("env"), `{"env":[{"name":"A"}]}`, []string{"env.[name=A].name"}},
		"an empty list by key":      {`{"env":[{"name":"A"}]}`, `{"env":[]}`, byName("env"), `{"env":[{"name":"A"}]}`, nil},
		"an item of its key alone":  {`{"env":[{"name":"A","value":"1"}]}`, `{"env":[{"name":"A"}]}`, byName("env"), `{"env":[{"name":"A","value":"1"}]}`, nil},
		"keys written otherwise":    {`{"env":[{"name":"\u0041","v":1}]}`, `{"env":[{"name":"A","v":2}]}`, byName("env"), `{"env":[{"name":"\u0041","v":2}]}`, []string{"env.[name=A].v"}},
		"keys of other kinds": {
			`{"a":[{"name":1,"x":1},{"name":"1","x":2},{"name":true,"x":3},{"name":"true"},{"name":1.0}]}`,
			`{"a":[{"name":"1","y":1},{"name":true,"y":2},{"name":1,"y":3},{"name":1e0}]}`, byName("a"),
			`{"a":[{"name":1,"x":1,"y":3},{"name":"1","x":2,"y":1},{"name":true,"x":3,"y":2},{"name":"true"},{"name":1.0},{"name":1e0}]}`,
			[]string{`a.[name="1"].y`, "a.[name=1].y", "a.[name=1e0].name", "a.[name=true].y"},
		},
		"lists in items are replaced": {
			`{"a":[{"name":"A","a":[1,2],"l":[{"name":"x"}]}]}`, `{"a":[{"name":"A","a":[3],"l":[{"name":"y"}]}]}`, byName("a"),
			`{"a":[{"name":"A","a":[3],"l":[{"name":"y"}]}]}`, []string{"a.[name=A].a", "a.[name=A].l"},
		},
		"null in an item is handed on": {`{"a":[{"name":"A","v":1}]}`, `{"a":[{"name":"A","v":null,"w":null}]}`, byName("a"), `{"a":[{"name":"A","v":null,"w":null}]}`, []string{"a.[name=A].v", "a.[name=A].w"}},
		"no list in the Package":       {`{"a":{"b":1}}`, `{"a":[{"name":"A"}]}`, byName("a"), `{"a":[{"name":"A"}]}`, []string{"a"}},
		"nothing in the Package":       {`{}`, `{"a":[1]}`, appendAt("a"), `{"a":[1]}`, []string{"a"}},
		"no list in the override":      {`{"a":[1]}`, `{"a":{"b":1}}`, appendAt("a"), `{"a":{"b":1}}`, []string{"a.b"}},
		"no path leads through a list": {`{"a":[{"b":[1]}]}`, `{"a":[{"b":[2]}]}`, appendAt("a.b"), `{"a":[{"b":[2]}]}`, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			result := merged(t, c.values, merge.Override{Values: []byte(c.override), Lists: []merge.ListRule{c.rule}})
			if got := string(result.Values); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := texts(result.Overridden); !slices.Equal(got, c.overridden) {
				t.Errorf("overridden: %q, want %q", got, c.overridden)
			}
		})
	}
}

func TestItemsThatAKeyDoesNotTellApartAreRefused(t *testing.T) {
	lists := []merge.ListRule{{Path: path(t, "a.env"), Strategy: merge.MergeByKey, Key: "name"}}
	for items, want := range map[string]string{
		`[{"name":"A"},{"value":"1"}]`:                  `item [1] of %s list has no "name": give it one, or replace the list`,
		`[{"name":null}]`:                               `item [0] of %s list has no "name"`,
		`[{"name":"A"},{"name":"B"},{"name":["A"]}]`:    `item [2] of %s list has a list as "name": only by a string, a number or a boolean`,
		`[{"name":{"name":"A"}}]`:                       `item [0] of %s list has a map as "name"`,
		`[{"name":"A"},"A"]`:                            `item [1] of %s list is a string: only maps can be told apart by a key`,
		`[null]`:                                        `item [0] of %s list is null`,
		`[[{"name":"A"}]]`:                              `item [0] of %s list is a list`,
		`[{"name":"A"},{"name":"B"},{"name":"\u0041"}]`: `items [0] and [2] of %s list have the same "name": take one out, or replace the list`,
		`[{"name":1e3},{"name":1e3}]`:                   `items [0] and [1] of %s list have the same "name": take one out`,
	} {
		wrong, right := `{"a":{"env":`+items+`}}`, `{"a":{"env":[{"name":"Z"}]}}`
		for whose, err := range map[string]error{
			"the Package's":  mergeError(wrong, merge.Override{Values: []byte(right), Lists: lists}),
			"the override's": mergeError(right, merge.Override{Values: []byte(wrong), Lists: lists}),
		} {
			want := "cannot merge the lists at a.env by key: " + strings.Replace(want, "%s", whose, 1)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %q", items, err, want)
			}
		}
		// Without a rule, or without the other list, nobody has to tell them apart.
		merged(t, wrong, of(right))
		merged(t, wrong, merge.Override{Values: []byte(`{"a":{"env":null}}`), Lists: lists})
		merged(t, wrong, merge.Override{Values: []byte(`{"a":{"env":[]}}`), Lists: lists})
	}
}
