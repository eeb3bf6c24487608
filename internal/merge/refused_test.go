package merge_test

import (
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

func TestValuesThatAreNoMapAreRefused(t *testing.T) {
	for values, want := range map[string]string{
		` `:                            "invalid JSON: it ends where a value is wanted",
		`{`:                            "invalid JSON: it ends where a key is wanted",
		`{"a":{"b":[1,`:                "a.b.[1]: invalid JSON: it ends where a value is wanted",
		`{"a":{"b":[1,x]}}`:            "a.b.[1]: invalid JSON: 'x' stands at byte 13, where a value is wanted",
		`{"a":{"b":01}}`:               "a.b: invalid JSON: '0' stands at byte 10, where a value is wanted",
		`{"a":1,}`:                     "invalid JSON: '}' stands at byte 7, where a key is wanted",
		`{,"a":1}`:                     "invalid JSON: ',' stands at byte 1, where a key is wanted",
		`{"a":[1,]}`:                   "a.[1]: invalid JSON: ']' stands at byte 8, where a value is wanted",
		`{"a":[,1]}`:                   "a.[0]: invalid JSON: ',' stands at byte 6, where a value is wanted",
		`{"a":[1 2]}`:                  "a: invalid JSON: '2' stands at byte 8, where a comma or ] is wanted",
		`{"a":1 "b":2}`:                "invalid JSON: '\"' stands at byte 7, where a comma or } is wanted",
		`{"a" 1}`:                      "a: invalid JSON: '1' stands at byte 5, where a colon is wanted",
		`{"a"`:                         "a: invalid JSON: it ends where a colon is wanted",
		`{"a":}`:                       "a: invalid JSON: '}' stands at byte 5, where a value is wanted",
		`{"a":[1}`:                     "a: invalid JSON: '}' stands at byte 7, where a comma or ] is wanted",
		`{"a":"b`:                      "a: invalid JSON: '\"' stands at byte 5, where a value is wanted",
		`{"a":"b\`:                     "a: invalid JSON: '\"' stands at byte 5, where a value is wanted",
		`{"a":"\x"}`:                   "a: invalid JSON: '\"' stands at byte 5, where a value is wanted",
		`{a:1}`:                        "invalid JSON: 'a' stands at byte 1, where a key is wanted",
		`{'a':1}`:                      "invalid JSON: '\\'' stands at byte 1, where a key is wanted",
		`{é:1}`:                        "invalid JSON: 'é' stands at byte 1, where a key is wanted",
		`{"\x":1}`:                     "invalid JSON: '\"' stands at byte 1, where a key is wanted",
		`{1:1}`:                        "invalid JSON: '1' stands at byte 1, where a key is wanted",
		`{"a":NaN}`:                    "a: invalid JSON: 'N' stands at byte 5, where a value is wanted",
		`{"a":1.}`:                     "a: invalid JSON: '1' stands at byte 5",
		`{"a":truefalse}`:              "a: invalid JSON: 't' stands at byte 5",
		"{\"a\":\"\n\"}":               "a: invalid JSON",
		"{\"a\":1\x00}":                "a: invalid JSON",
		"{\"a\":1}\x00":                "invalid JSON: '\\x00' stands at byte 7, where the end is wanted",
		"\ufeff{}":                     "invalid JSON",
		`{} {}`:                        "invalid JSON: '{' stands at byte 3, where the end is wanted",
		`{}x`:                          "invalid JSON: 'x' stands at byte 2, where the end is wanted",
		"{\"a\":\"\xff\"}":             "invalid JSON: it is not UTF-8",
		`null`:                         "a map is wanted at the top, not null",
		`[]`:                           "a map is wanted at the top, not a list",
		`"a"`:                          "a map is wanted at the top, not a string",
		`1`:                            "a map is wanted at the top, not a number",
		`true`:                         "a map is wanted at the top, not a boolean",
		`{"a":1,"b":2,"a":3}`:          "a: the map has this key twice",
		`{"a":{"b.c":{"d":1,"d":1}}}`:  `a.b\.c.d: the map has this key twice`,
		`{"a":[0,{"b":1,"\u0062":2}]}`: `a.[1].b: the map has this key twice`,
		// Where an index finds keys.
		`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"i":1}`: `i: the map has this key twice`,
	} {
		_, err := merge.Merge([]byte(values), merge.Override{})
		if err == nil || !strings.HasPrefix(err.Error(), "cannot read the Package's values: ") || !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%s: %v, want %q", values, err, want)
		}
		for name, err := range map[string]error{"merged": mergeError(``, of(values)), "validated": of(values).Validate()} {
			if err == nil || !strings.HasPrefix(err.Error(), "cannot read the override's values: ") || !strings.Contains(err.Error(), ": "+want) {
				t.Errorf("%s, %s: %v, want %q", values, name, err, want)
			}
		}
	}
}

func mergeError(values string, override merge.Override) error {
	_, err := merge.Merge([]byte(values), override)
	return err
}

// nested has so many maps in each other, or maps and lists by turns.
func nested(levels int, lists bool) string {
	var begin, end strings.Builder
	for i := range levels {
		if lists && i%2 == 1 {
			begin.WriteString(`[`)
		} else {
			begin.WriteString(`{"a":`)
		}
	}
	for i := levels - 1; i >= 0; i-- {
		if lists && i%2 == 1 {
			end.WriteString(`]`)
		} else {
			end.WriteString(`}`)
		}
	}
	return begin.String() + "1" + end.String()
}

func TestDepthIsBounded(t *testing.T) {
	for _, lists := range []bool{false, true} {
		deep := nested(merge.MaxDepth, lists)
		result := merged(t, deep, of(deep))
		if string(result.Values) != deep || len(result.Overridden) != 1 {
			t.Errorf("%d levels became %s, %q", merge.MaxDepth, result.Values, texts(result.Overridden))
		}
		for _, levels := range []int{merge.MaxDepth + 1, 200_000} {
			err := of(nested(levels, lists)).Validate()
			if err == nil || !strings.Contains(err.Error(), "more than 100 maps and lists lie in each other") || len(err.Error()) > 500 {
				t.Errorf("%d levels: %.600v", levels, err)
			}
		}
	}
	// Nor does a path that makes maps lead deeper.
	longest := path(t, strings.Repeat("a.", merge.MaxDepth-1)+"a")
	result := merged(t, ``, merge.Override{Unset: []merge.Path{longest}})
	merged(t, string(result.Values), merge.Override{})
}

func TestContradictionsAreRefused(t *testing.T) {
	rule := func(at string, strategy merge.Strategy, key string) merge.ListRule {
		return merge.ListRule{Path: path(t, at), Strategy: strategy, Key: key}
	}
	for name, c := range map[string]struct {
		values string
		unset  []string
		lists  []merge.ListRule
		want   []string
	}{
		"set and unset":          {`{"a":{"b":1}}`, []string{"a.b"}, nil, []string{"a.b is both in unset and in values: take it out of one"}},
		"set to null and unset":  {`{"a":null}`, []string{"a"}, nil, []string{"a is both in unset and in values"}},
		"set in what is unset":   {`{"a":{"b":{"c":1}}}`, []string{"a.b"}, nil, []string{"a.b is both"}},
		"an empty map is set":    {`{"a":{"b":{}}}`, []string{"a.b"}, nil, []string{"a.b is both"}},
		"unset twice":            {``, []string{"a", "b", "a"}, nil, []string{"unset has a, and with a that goes already: take it out"}},
		"unset in what is unset": {``, []string{"a.c", "a-b", "a", "a.b.c"}, nil, []string{"unset has a.b.c, and with a that goes", "unset has a.c, and with a that goes"}},
		"no strategy":            {``, nil, []merge.ListRule{rule("a", "", "")}, []string{`listMerge for a has the strategy "": write Append or MergeByKey`}},
		"another strategy":       {``, nil, []merge.ListRule{rule("a", "append", "")}, []string{`listMerge for a has the strategy "append": write`}},
		"no key":                 {``, nil, []merge.ListRule{rule("a", merge.MergeByKey, "")}, []string{"listMerge for a has the strategy MergeByKey and no key: name the key"}},
		"a key too many":         {``, nil, []merge.ListRule{rule("a", merge.Append, "name")}, []string{`listMerge for a has the key "name", which Append does not look at: take it out`}},
		"two rules": {``, nil, []merge.ListRule{rule("a.b", merge.Append, ""), rule("a", merge.Append, ""), rule("a.b", merge.MergeByKey, "name")},
			[]string{"listMerge has two rules for a.b: take one out"}},
		"items without the key": {`{"a":[{"name":"x"},{}]}`, nil, []merge.ListRule{rule("a", merge.MergeByKey, "name")},
			[]string{`cannot merge the lists at a by key: item [1] of the override's list has no "name": give it one, or replace the list`}},
		"all of it": {`{"a":1}`, []string{"a", "b", "b"}, []merge.ListRule{rule("c", "X", ""), rule("d", merge.MergeByKey, "")},
			[]string{"a is both", "unset has b", "listMerge for c", "listMerge for d"}},
	} {
		t.Run(name, func(t *testing.T) {
			override := merge.Override{Values: []byte(c.values), Unset: paths(t, c.unset...), Lists: c.lists}
			err := override.Validate()
			if err == nil {
				t.Fatal("nothing is wrong with it")
			}
			said := strings.Split(err.Error(), "\n")
			if len(said) != len(c.want) {
				t.Fatalf("said %q, want %q", said, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(said[i], want) {
					t.Errorf("said %q, want %q", said[i], want)
				}
			}
			if merged := mergeError(`{}`, override); merged == nil || merged.Error() != err.Error() {
				t.Errorf("merging says %v", merged)
			}
		})
	}
	for _, override := range []merge.Override{{Unset: []merge.Path{{}}}, {Lists: []merge.ListRule{{Strategy: merge.Append}}}} {
		if err := override.Validate(); err == nil || !strings.Contains(err.Error(), "empty path: name a key") {
			t.Errorf("a path of no keys: %v", err)
		}
	}
}

func TestWhatIsNoContradictionIsNotRefused(t *testing.T) {
	override := merge.Override{
		Values: []byte(`{"a":{"b":1},"ab":{},"l":[{"name":"x"}],"m":[1,[2]]}`),
		Unset:  paths(t, "a.c", "ab.c", "a.b.c", "c", "a-b", "c-d"),
		Lists: []merge.ListRule{
			{Path: path(t, "l"), Strategy: merge.MergeByKey, Key: "name"}, {Path: path(t, "m"), Strategy: merge.Append},
			{Path: path(t, "l.x"), Strategy: merge.Append}, {Path: path(t, "nowhere"), Strategy: merge.Append},
		},
	}
	if err := override.Validate(); err != nil {
		t.Error(err)
	}
	if err := (merge.Override{}).Validate(); err != nil {
		t.Error(err)
	}
}
