package merge_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

func TestResultSaysWhatIsOverridden(t *testing.T) {
	values := `{
		"same":1,"sameList":[1, {"x":1,"y":2}],"sameMap":{"x":1},"number":1,"string":"a","bool":true,"null":null,
		"list":[1,2,3],"emptied":[1],"filled":[],"listToMap":[1],"mapToList":{"x":1},"mapToScalar":{"x":{"y":1}},"scalarToMap":1,"scalarToList":1,
		"deep":{"a.b":{"kept":1,"x":1,"list":[1]},"kept":2}
	}`
	override := `{
		"new":1,"newNull":null,"newMap":{"z":{},"a":{"b":[1,2]}},
		"same":1,"sameList":[1,{"y":2,"x":1}],"sameMap":{"x":1},"number":1.0,"string":"b","bool":false,"null":1,
		"list":[3],"emptied":[],"filled":[1],"listToMap":{"y":{"z":1}},"mapToList":[1],"mapToScalar":2,"scalarToMap":{"y":1,"x":{}},"scalarToList":[1],
		"deep":{"new":1,"a.b":{"x":null,"list":[2,3]}}
	}`
	result := merged(t, values, of(override))
	if got, want := texts(result.Overridden), []string{
		"bool", `deep.a\.b.list`, `deep.a\.b.x`, "deep.new", "emptied", "filled", "list", "listToMap.y.z", "mapToList", "mapToScalar",
		"new", "newMap.a.b", "newMap.z", "newNull", "null", "number", "same", "sameList", "sameMap.x", "scalarToList", "scalarToMap.x", "scalarToMap.y", "string",
	}; !slices.Equal(got, want) {
		t.Errorf("overridden\n%q, want\n%q", got, want)
	}
	if got, want := texts(result.Shadowed), []string{
		"bool", `deep.a\.b.list`, `deep.a\.b.x`, "emptied", "filled", "list", "listToMap", "mapToList", "mapToScalar",
		"null", "number", "scalarToList", "scalarToMap", "string",
	}; !slices.Equal(got, want) {
		t.Errorf("shadowed\n%q, want\n%q", got, want)
	}
	if got, want := replaced(result), []string{`deep.a\.b.list 1 to 2`, "emptied 1 to 0", "filled 0 to 1", "list 3 to 1"}; !slices.Equal(got, want) {
		t.Errorf("replaced %q, want %q", got, want)
	}
	if len(result.Idle) > 0 {
		t.Errorf("without effect: %+v", result.Idle)
	}
}

func replaced(result merge.Result) []string {
	said := []string{}
	for _, one := range result.Replaced {
		said = append(said, fmt.Sprintf("%s %d to %d", one.Path, one.Before, one.After))
	}
	return said
}

func TestResultSaysWhatIsReplacedInItems(t *testing.T) {
	result := merged(t,
		`{"a":[{"name":"b.c","args":[1,2],"v":1,"w":1},{"name":"d"}]}`,
		merge.Override{
			Values: []byte(`{"a":[{"name":"new"},{"name":"b.c","args":[3],"v":2,"w":1}]}`),
			Lists:  []merge.ListRule{{Path: path(t, "a"), Strategy: merge.MergeByKey, Key: "name"}},
		})
	if got, want := texts(result.Shadowed), []string{`a.[name=b\.c].args`, `a.[name=b\.c].v`}; !slices.Equal(got, want) {
		t.Errorf("shadowed %q, want %q", got, want)
	}
	if got, want := texts(result.Overridden), []string{`a.[name=b\.c].args`, `a.[name=b\.c].v`, `a.[name=b\.c].w`, "a.[name=new].name"}; !slices.Equal(got, want) {
		t.Errorf("overridden %q, want %q", got, want)
	}
	if got, want := replaced(result), []string{`a.[name=b\.c].args 2 to 1`}; !slices.Equal(got, want) {
		t.Errorf("replaced %q, want %q", got, want)
	}
}

func TestMergedListsShadowNothing(t *testing.T) {
	result := merged(t, `{"a":[1],"b":[{"name":"x"}]}`, merge.Override{
		Values: []byte(`{"a":[2],"b":[{"name":"y"}]}`),
		Lists:  []merge.ListRule{{Path: path(t, "b"), Strategy: merge.MergeByKey, Key: "name"}, {Path: path(t, "a"), Strategy: merge.Append}},
	})
	if len(result.Shadowed)+len(result.Replaced)+len(result.Idle) > 0 {
		t.Errorf("reported %+v", result)
	}
}

func TestResultSaysWhyARuleDoesNothing(t *testing.T) {
	override := merge.Override{Values: []byte(`{"string":"x","list":[{"a":[1]}],"map":{"a":{}},"empty":[],"alone":[1],"overMap":[1],"deep":{"er":[1]},"merged":[1]}`)}
	for _, at := range []string{"string", "nothing", "list.a", "list.0", "map.a", "map.b", "empty", "alone", "overMap", "deep.er", "merged"} {
		override.Lists = append(override.Lists, merge.ListRule{Path: path(t, at), Strategy: merge.Append})
	}
	override.Unset = paths(t, "string.a", "deep.f")
	result := merged(t, `{"string":["x"],"nothing":[1],"list":[1],"map":{"a":[1]},"empty":[1],"overMap":{"x":1},"deep":[1],"merged":[1]}`, override)
	var got []string
	for _, one := range result.Idle {
		got = append(got, fmt.Sprintf("%s %s: %s", one.Part, one.Path, one.Why))
	}
	want := []string{
		"listMerge alone: the Package has nothing there: the override's list is taken as it is",
		"listMerge deep.er: the Package has a list at deep, which no path leads through: the override's list is taken as it is",
		"listMerge empty: the override's list is empty",
		"listMerge list.0: the override has a list at list, which no path leads through",
		"listMerge list.a: the override has a list at list, which no path leads through",
		"listMerge map.a: the override has a map there",
		"listMerge map.b: the override has nothing there",
		"listMerge nothing: the override has nothing there",
		"listMerge overMap: the Package has a map there: the override's list is taken as it is",
		"listMerge string: the override has a string there",
		"unset string.a: there is a string at string, which no path leads through",
	}
	if !slices.Equal(got, want) {
		t.Errorf("without effect\n%q, want\n%q", got, want)
	}
}

// TestSameInputSameResult has rules and paths in any order.
func TestSameInputSameResult(t *testing.T) {
	values := `{"a":[1],"b":[{"name":"x"}],"c":1,"d":{"e":1}}`
	override := merge.Override{
		Values: []byte(`{"a":[2],"b":[{"name":"y"},{"name":"x","z":1}],"f":{"g":1}}`),
		Unset:  paths(t, "d.e", "c", "n.b", "n.a", "c-x", "f.g.h"),
		Lists: []merge.ListRule{
			{Path: path(t, "b"), Strategy: merge.MergeByKey, Key: "name"}, {Path: path(t, "a"), Strategy: merge.Append},
			{Path: path(t, "z"), Strategy: merge.Append}, {Path: path(t, "f.g"), Strategy: merge.Append},
		},
	}
	want := merged(t, values, override)
	slices.Reverse(override.Unset)
	slices.Reverse(override.Lists)
	if got := merged(t, values, override); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\n%s\nwant\n%+v\n%s", got, got.Values, want, want.Values)
	}
}
