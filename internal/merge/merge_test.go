package merge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// merged is the result of what has to merge.
func merged(t testing.TB, values string, override merge.Override) merge.Result {
	t.Helper()
	result, err := merge.Merge([]byte(values), override)
	if err != nil {
		t.Fatalf("%s\nover\n%s: %v", override.Values, values, err)
	}
	return result
}

// of is an override of values only.
func of(values string) merge.Override { return merge.Override{Values: []byte(values)} }

// quoted is a key as JSON, with no more escapes than it needs.
func quoted(key string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(key); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// joined writes keys as a path.
func joined(keys []string) string {
	escaped := slices.Clone(keys)
	for i, key := range escaped {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(key, `\`, `\\`), `.`, `\.`)
	}
	return strings.Join(escaped, ".")
}

func TestMapsMergeAndAllElseReplaces(t *testing.T) {
	for name, c := range map[string]struct{ values, override, want string }{
		"a map merges deep":             {`{"a":{"b":{"c":1,"d":2}}}`, `{"a":{"b":{"c":3}}}`, `{"a":{"b":{"c":3,"d":2}}}`},
		"an empty map changes no map":   {`{"a":{"b":1}}`, `{"a":{}}`, `{"a":{"b":1}}`},
		"a list replaces a list":        {`{"a":[1,2,3]}`, `{"a":[4]}`, `{"a":[4]}`},
		"a list of maps too":            {`{"a":[{"b":1,"c":2}]}`, `{"a":[{"b":3}]}`, `{"a":[{"b":3}]}`},
		"an empty list too":             {`{"a":[1]}`, `{"a":[]}`, `{"a":[]}`},
		"a scalar replaces a map":       {`{"a":{"b":1}}`, `{"a":"x"}`, `{"a":"x"}`},
		"a map replaces a scalar":       {`{"a":"x"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"an empty map replaces one too": {`{"a":"x"}`, `{"a":{}}`, `{"a":{}}`},
		"a map replaces a list":         {`{"a":[{"b":1}]}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"a list replaces a map":         {`{"a":{"b":1}}`, `{"a":[{"b":1}]}`, `{"a":[{"b":1}]}`},
		"a map replaces null":           {`{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"null replaces a map":           {`{"a":{"b":1},"c":2}`, `{"a":null}`, `{"a":null,"c":2}`},
		"null is handed on":             {`{}`, `{"a":null,"b":{"c":null},"d":[null]}`, `{"a":null,"b":{"c":null},"d":[null]}`},
		"the Package's null stays":      {`{"a":null,"b":{"c":null}}`, `{"b":{"d":1}}`, `{"a":null,"b":{"c":null,"d":1}}`},
		"false is no null":              {`{"a":true}`, `{"a":false}`, `{"a":false}`},
		"keys are told apart exactly":   {`{"a":1,"A":2,"a ":3}`, `{"A":4}`, `{"a":1,"A":4,"a ":3}`},
		"an empty key is a key":         {`{"":{"":1}}`, `{"":{"a":2}}`, `{"":{"":1,"a":2}}`},
		"keys may be written otherwise": {`{"\u0061":1}`, `{"a":2}`, `{"\u0061":2}`},
		"a dot in a key is no path":     {`{"a":{"b":1}}`, `{"a.b":2}`, `{"a":{"b":1},"a.b":2}`},
		"nothing is set under nothing":  {``, `{"a":{"b":[1]}}`, `{"a":{"b":[1]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(merged(t, c.values, of(c.override)).Values); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestTextOfWhatDoesNotChangeStays(t *testing.T) {
	for name, c := range map[string]struct{ values, override, want string }{
		"numbers": {
			`{"a":1e3,"b":10000000000000001,"c":1.0,"d":-0,"e":1E+400,"x":0}`, `{"x":1}`,
			`{"a":1e3,"b":10000000000000001,"c":1.0,"d":-0,"e":1E+400,"x":1}`,
		},
		"numbers of the override": {
			`{"a":1,"b":{}}`, `{"a":1.0,"b":{"c":1e3,"d":10000000000000001},"e":[1.0,1e3]}`,
			`{"a":1.0,"b":{"c":1e3,"d":10000000000000001},"e":[1.0,1e3]}`,
		},
		"keys stay in order, new ones follow": {
			`{"z":1,"a":{"y":1,"b":2},"m":3}`, `{"q":1,"a":{"x":3,"b":4,"c":5},"b":2,"z":0}`,
			`{"z":0,"a":{"y":1,"b":4,"x":3,"c":5},"m":3,"q":1,"b":2}`,
		},
		"spaces": {
			" {\n \"a\" : 1 ,\t\"b\":{ \"c\" :[ 1, 2 ] } , \"d\": { } } \n", `{"a": 2, "d": { "e" : 3 }, "b":{"f":4}, "g" : [ ]}`,
			" {\n \"a\" : 2 ,\t\"b\":{ \"c\" :[ 1, 2 ],\"f\":4 } , \"d\": {\"e\":3 },\"g\":[ ] } \n",
		},
		"strings": {
			`{"a":"\u00e9\/<>&\ud83d\ude00","\u00e9":1}`, `{"b\u0000":"\u00e9<>\/"}`,
			`{"a":"\u00e9\/<>&\ud83d\ude00","\u00e9":1,"b\u0000":"\u00e9<>\/"}`,
		},
		"what is just so": {
			`{"a":"\u00e9","b":[ {"x":1, "y":[2]} ],"c":1.50}`, `{"a":"é","b":[{"y":[2],"x":1}],"c":1.50}`,
			`{"a":"\u00e9","b":[ {"x":1, "y":[2]} ],"c":1.50}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(merged(t, c.values, of(c.override)).Values); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestNothingInNothingOut(t *testing.T) {
	for _, override := range []merge.Override{{}, of(`{}`), of(" { } \n"), {Lists: []merge.ListRule{{Path: path(t, "a"), Strategy: merge.Append}}}} {
		for values, want := range map[string]string{``: ``, `{}`: `{}`, " {\n} ": " {\n} ", ` {"a": {}}`: ` {"a": {}}`} {
			result := merged(t, values, override)
			if string(result.Values) != want || (result.Values == nil) != (values == "") {
				t.Errorf("%q over %q is %q, %v", override.Values, values, result.Values, result.Values == nil)
			}
			if len(result.Overridden)+len(result.Shadowed)+len(result.Replaced) > 0 {
				t.Errorf("%q over %q: %+v", override.Values, values, result)
			}
		}
	}
}

// TestResultIsNobodyElses writes over all that went in.
func TestResultIsNobodyElses(t *testing.T) {
	for over, want := range map[string]string{
		`{"f":{"g":[2]},"d":3}`: `{"a":[1,{"b":"c"}],"d":3,"f":{"g":[2]}} d f.g`,
		`{"d":3}`:               `{"a":[1,{"b":"c"}],"d":3} d`,
		`{}`:                    `{"a":[1,{"b":"c"}],"d":"e"} `,
	} {
		values, override := []byte(`{"a":[1,{"b":"c"}],"d":"e"}`), []byte(over)
		result, err := merge.Merge(values, merge.Override{Values: override})
		if err != nil {
			t.Fatal(err)
		}
		clear(values)
		clear(override)
		if got := string(result.Values) + " " + strings.Join(texts(result.Overridden), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func texts(paths []merge.Path) []string {
	written := []string{}
	for _, path := range paths {
		written = append(written, path.String())
	}
	return written
}
