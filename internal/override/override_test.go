package override_test

import (
	"strings"
	"testing"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/merge"
	"github.com/cozystack/gitops-operator/internal/override"
)

func TestOverrideIsReadAsItIsWritten(t *testing.T) {
	read, err := override.Of(cozyv1.ComponentValues{
		Values: json(`{"a": 1e3}`), Unset: []string{"b.c", `d\.e`},
		ListMerge: []cozyv1.ListMerge{{Path: "f", Strategy: cozyv1.ListAppend}, {Path: "g.h", Strategy: cozyv1.ListMergeByKey, Key: "name"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(read.Values) != `{"a": 1e3}` || len(read.Unset) != 2 || read.Unset[1].String() != `d\.e` || len(read.Lists) != 2 ||
		read.Lists[0].Strategy != merge.Append || read.Lists[1].Path.String() != "g.h" || read.Lists[1].Strategy != merge.MergeByKey || read.Lists[1].Key != "name" {
		t.Errorf("%+v", read)
	}
	if read, err := override.Of(cozyv1.ComponentValues{}); err != nil || read.Values != nil || read.Unset != nil || read.Lists != nil {
		t.Errorf("nothing is read as %+v: %v", read, err)
	}
}

// TestErrorsNameTheFieldAndTheMend looks for both in what a person is told.
func TestErrorsNameTheFieldAndTheMend(t *testing.T) {
	for what, c := range map[string]struct {
		component   cozyv1.ComponentValues
		field, mend string
	}{
		"an empty key":             {cozyv1.ComponentValues{Unset: []string{"a", "b..c"}}, "unset[1]", "write one dot between two keys"},
		"a stray backslash":        {cozyv1.ComponentValues{Unset: []string{`a\b`}}, "unset[0]", `write \\`},
		"a rule's path":            {cozyv1.ComponentValues{ListMerge: []cozyv1.ListMerge{{Path: ".", Strategy: cozyv1.ListAppend}}}, "listMerge[0].path", "write one dot"},
		"a rule without a key":     {cozyv1.ComponentValues{ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: cozyv1.ListMergeByKey}}}, "listMerge for a", "name the key"},
		"a rule with a key":        {cozyv1.ComponentValues{ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: cozyv1.ListAppend, Key: "b"}}}, "listMerge for a", "write MergeByKey"},
		"another strategy":         {cozyv1.ComponentValues{ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: "Prepend"}}}, "listMerge for a", "write Append or MergeByKey"},
		"set and unset":            {cozyv1.ComponentValues{Values: json(`{"a":{"b":1}}`), Unset: []string{"a.b"}}, "a.b is both in unset and in values", "take it out of one"},
		"unset twice":              {cozyv1.ComponentValues{Unset: []string{"a.b", "a"}}, "unset has a.b", "take it out"},
		"a key twice":              {cozyv1.ComponentValues{Values: json(`{"a":{"b":1,"b":2}}`)}, "a.b", "take one out"},
		"no map":                   {cozyv1.ComponentValues{Values: json(`[1]`)}, "the override's values", "a map is wanted"},
		"items that are the same":  {cozyv1.ComponentValues{Values: json(`{"a":[{"n":1},{"n":1}]}`), ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: cozyv1.ListMergeByKey, Key: "n"}}}, "items [0] and [1]", "take one out"},
		"an item without that key": {cozyv1.ComponentValues{Values: json(`{"a":[{"m":1}]}`), ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: cozyv1.ListMergeByKey, Key: "n"}}}, "item [0]", "give it one"},
	} {
		_, err := override.Of(c.component)
		if err == nil || !strings.Contains(err.Error(), c.field) || !strings.Contains(err.Error(), c.mend) {
			t.Errorf("%s: %v, want %q and %q", what, err, c.field, c.mend)
			continue
		}
		spec := cozyv1.PackageValuesSpec{Components: map[string]cozyv1.ComponentValues{"good": {}, "web": c.component}}
		if err := override.Validate(spec); err == nil || !strings.HasPrefix(err.Error(), "spec.components.web: ") || !strings.Contains(err.Error(), c.mend) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAllThatIsWrongIsTold(t *testing.T) {
	err := override.Validate(cozyv1.PackageValuesSpec{Components: map[string]cozyv1.ComponentValues{
		"web": {Unset: []string{"a..b", `c\d`}, ListMerge: []cozyv1.ListMerge{{Path: "", Strategy: cozyv1.ListAppend}}},
		"db":  {Values: json(`1`)},
	}})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	said, last := err.Error(), -1
	for _, part := range []string{"spec.components.db: ", "spec.components.web: ", "unset[0]", "unset[1]", "listMerge[0].path"} {
		at := strings.Index(said, part)
		if at <= last {
			t.Errorf("%q is not where it belongs in:\n%s", part, said)
		}
		last = at
	}
	if err := override.Validate(cozyv1.PackageValuesSpec{Components: map[string]cozyv1.ComponentValues{"web": {Values: json(`{}`)}}}); err != nil {
		t.Error(err)
	}
}
