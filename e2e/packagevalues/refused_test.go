package packagevalues_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWrongManifestsAreRefused with a sentence that says the mend, by the schema or by the
// webhook.
func TestWrongManifestsAreRefused(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	many := func(count int, each string) string {
		var all []string
		for i := range count {
			all = append(all, fmt.Sprintf(each, i))
		}
		return strings.Join(all, ", ")
	}
	web := func(component string) string { return "{components: {web: " + component + "}}" }
	for what, c := range map[string]struct{ spec, says string }{
		"no components":                 {"{}", "spec.components: Required value"},
		"empty components":              {"{components: {}}", "spec.components in body should have at least 1 properties"},
		"65 components":                 {"{components: {" + many(65, "c%d: {values: {}}") + "}}", "must have at most 64 items"},
		"a component's name":            {"{components: {Web_: {values: {}}}}", "lower case letters, digits, - and ."},
		"values that are a list":        {web("{values: [a]}"), "spec.components.web.values: Invalid value: \"array\": spec.components.web.values in body must be of type object"},
		"values that are text":          {web("{values: text}"), "must be of type object"},
		"a path with an empty key":      {web("{unset: [a..b]}"), "spec.components.web.unset[0]"},
		"a path that ends in a dot":     {web("{unset: [a.]}"), "spec.components.web.unset[0]"},
		"a path with a lone backslash":  {web(`{unset: ['a\b']}`), "spec.components.web.unset[0]"},
		"an empty path":                 {web("{unset: ['']}"), "spec.components.web.unset[0]"},
		"a path in a list's items":      {web("{listMerge: [{path: 'a..b', strategy: Append}]}"), "spec.components.web.listMerge[0].path"},
		"unset twice":                   {web("{unset: [a, a]}"), "Duplicate value"},
		"unset with what it is in":      {web("{unset: [a, a.b]}"), "unset has a.b, and with a that goes already: take it out"},
		"unset and set":                 {web("{values: {a: {b: 1}}, unset: [a.b]}"), "a.b is both in unset and in values: take it out of one"},
		"unset around what is set":      {web("{values: {a: {b: 1}}, unset: [a]}"), "a is both in unset and in values: take it out of one"},
		"257 paths":                     {web("{unset: [" + many(257, "p%d") + "]}"), "must have at most 256 items"},
		"another strategy":              {web("{listMerge: [{path: a, strategy: Replace}]}"), "supported values: \"Append\", \"MergeByKey\""},
		"MergeByKey without a key":      {web("{listMerge: [{path: a, strategy: MergeByKey}]}"), "MergeByKey needs it, and Append must not have it"},
		"Append with a key":             {web("{listMerge: [{path: a, strategy: Append, key: name}]}"), "MergeByKey needs it, and Append must not have it"},
		"two rules for a path":          {web("{listMerge: [{path: a, strategy: Append}, {path: a, strategy: MergeByKey, key: name}]}"), "Duplicate value"},
		"a rule without a path":         {web("{listMerge: [{strategy: Append}]}"), "spec.components.web.listMerge[0].path: Required value"},
		"items without the key":         {web("{values: {a: [{value: x}]}, listMerge: [{path: a, strategy: MergeByKey, key: name}]}"), "name"},
		"items that are no maps":        {web("{values: {a: [x]}, listMerge: [{path: a, strategy: MergeByKey, key: name}]}"), "a"},
		"items with the same key":       {web("{values: {a: [{name: x}, {name: x}]}, listMerge: [{path: a, strategy: MergeByKey, key: name}]}"), `items [0] and [1] of the override's list have the same "name"`},
		"a suspension that is no truth": {"{suspend: 'yes', components: {web: {}}}", "must be of type boolean"},
	} {
		values := object(t, "PackageValues", "refused", "spec: "+c.spec)
		err := cluster.Client.Create(t.Context(), values, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want a refusal with %q", what, err, c.says)
			continue
		}
		t.Logf("%s: %v", what, err)
	}
	for what, spec := range map[string]string{
		"64 components": "{components: {" + many(64, "c%d: {values: {}}") + "}}", "nothing of a component": web("{}"),
		"256 paths": web("{unset: [" + many(256, "p%d") + "]}"), "dots and backslashes": web(`{unset: ['a\.b.c\\d']}`),
		"a null": web("{values: {a: null}}"), "both strategies": web("{values: {a: [{name: x}], b: [1]}, listMerge: [{path: a, strategy: MergeByKey, key: name}, {path: b, strategy: Append}]}"),
	} {
		if err := cluster.Client.Create(t.Context(), object(t, "PackageValues", "taken", "spec: "+spec), client.DryRunAll); err != nil {
			t.Errorf("%s: %v, want none", what, err)
		}
	}
}

// TestWhatThePackageCannotTakeIsTold: the values of its Package decide whether
// a list can be merged by key; that is told in the status, and the release stays as it is.
func TestWhatThePackageCannotTakeIsTold(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "contradicted"
	newComponents(t, name, map[string]string{"web": "{env: [{value: x}], a: 1}", "fine": "{a: 1}"})
	overrideComponents(t, name, "{fine: {values: {b: 2}}, web: {values: {env: [{name: A}], b: 2}, listMerge: [{path: env, strategy: MergeByKey, key: name}]}}")
	awaitComponent(t, name, "fine", "{a: 1, b: 2}")
	values := awaitState(t, name, "False", "InvalidValues: web: component web of Package contradicted: ")
	if stalled := text(t, values.Status.Conditions); !strings.Contains(stalled, `"type":"Stalled"`) {
		t.Errorf("the conditions are %s, without Stalled", stalled)
	}
	wantComponent(t, name, "web", "{env: [{value: x}], a: 1}")
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {env: [{name: A, value: x}]}}}}")
	awaitComponent(t, name, "web", "{env: [{name: A, value: x}], a: 1, b: 2}")
	awaitState(t, name, "True", "Succeeded")
	// One that is overridden already stays as it is, whoever writes it.
	patch(t, object(t, "Package", name, "{}"), "spec: {components: {web: {values: {env: [{value: x}]}}}}")
	awaitState(t, name, "False", "InvalidValues")
	err := tryPatch(t.Context(), t, componentOf(name, "web"), "spec: {values: {b: 3}}")
	if err == nil || !strings.Contains(err.Error(), "mend or delete PackageValues "+name) {
		t.Errorf("a write of the release: %v, want a refusal with the mend", err)
	}
	wantComponent(t, name, "web", "{env: [{name: A, value: x}], a: 1, b: 2}")
	remove(t, object(t, "PackageValues", name, "{}"))
	awaitComponent(t, name, "web", "{env: [{value: x}], a: 1}")
}
