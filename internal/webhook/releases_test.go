package webhook

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/cozystack/gitops-operator/internal/override"
)

// TestReleasePatch has what is submitted, what is stored ("" for a new release), and what comes
// of it. Where nothing is to be changed, nothing is patched.
func TestReleasePatch(t *testing.T) {
	const labelled = `"labels":{"gitops.cozystack.io/values-overridden":"true"}`
	overridden := func(values string) override.Answer {
		return override.Answer{Stance: override.Overridden, Values: []byte(values)}
	}
	plain := func(values string) override.Answer {
		return override.Answer{Stance: override.Plain, Values: []byte(values)}
	}
	for _, c := range []struct {
		what           string
		answer         override.Answer
		submitted, old string
		byOperator     bool
		want           string
	}{
		{"values are put where there are none", overridden(`{"a":1}`), `{"metadata":{` + labelled + `},"spec":{}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":1}}}`},
		{"values are put in place of {}", overridden(`{"a":1}`), `{"metadata":{` + labelled + `},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":1}}}`},
		{"{} is put where there are none", overridden(`{}`), `{"metadata":{` + labelled + `},"spec":{}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{}}}`},
		{"none are to be", plain(``), `{"metadata":{},"spec":{"values":{}}}`, ``, false, `{"metadata":{},"spec":{}}`},
		{"none are to be, and null is", plain(``), `{"metadata":{},"spec":{"values":null}}`, ``, false, ``},
		{"none are to be, and none are", plain(``), `{"metadata":{},"spec":{}}`, ``, false, ``},
		{"null is not what is to be", overridden(`{"a":1}`), `{"metadata":{` + labelled + `},"spec":{"values":null}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":1}}}`},
		{"the same in another order, by other numbers", overridden(`{"a":1,"b":1e3}`), `{"metadata":{` + labelled + `},"spec":{"values":{"b":1000.0,"a":1}}}`, ``, false, ``},
		{"the text of a number is kept", overridden(`{"a":12345678901234567890123,"b":1.10}`), `{"metadata":{` + labelled + `},"spec":{"values":{"a":1}}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":12345678901234567890123,"b":1.10}}}`},
		{"nulls are kept", overridden(`{"a":null}`), `{"metadata":{` + labelled + `},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":null}}}`},
		{"the label is put where there are none", overridden(`{}`), `{"metadata":{},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{}}}`},
		{"the label is put to others", overridden(`{}`), `{"metadata":{"labels":{"a/b":"c"}},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{"labels":{"a/b":"c","gitops.cozystack.io/values-overridden":"true"}},"spec":{"values":{}}}`},
		{"the label has another value", overridden(`{}`), `{"metadata":{"labels":{"gitops.cozystack.io/values-overridden":"no"}},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{}}}`},
		{"the label goes", plain(`{}`), `{"metadata":{"labels":{"a/b":"c","gitops.cozystack.io/values-overridden":"no"}},"spec":{"values":{}}}`, ``, false,
			`{"metadata":{"labels":{"a/b":"c"}},"spec":{"values":{}}}`},
		{"frozen: what was stored stays", override.Answer{Stance: override.Frozen}, `{"metadata":{},"spec":{"values":{"a":2}}}`, `{"spec":{"values":{"a":1.0}}}`, false,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":1.0}}}`},
		{"frozen, and none were stored", override.Answer{Stance: override.Frozen}, `{"metadata":{` + labelled + `},"spec":{"values":{"a":2}}}`, `{"spec":{}}`, false,
			`{"metadata":{` + labelled + `},"spec":{}}`},
		{"frozen, and new", override.Answer{Stance: override.Frozen}, `{"metadata":{},"spec":{"values":{"a":2}}}`, ``, false, ``},
		{"unknown: whoever writes it has it so", override.Answer{}, `{"metadata":{` + labelled + `},"spec":{"values":{"a":2}}}`, `{"spec":{"values":{"a":1}}}`, false, ``},
		{"unknown, and the operator writes it", override.Answer{}, `{"metadata":{` + labelled + `},"spec":{"values":{"a":2}}}`, `{"spec":{"values":{"a":1}}}`, true,
			`{"metadata":{` + labelled + `},"spec":{"values":{"a":1}}}`},
		{"unknown, and the operator takes the label off", override.Answer{}, `{"metadata":{},"spec":{"values":{"a":1}}}`, `{"spec":{"values":{"a":1}}}`, true, ``},
	} {
		patch := patchFor(c.answer, parse(t, c.submitted), parseOld(t, c.old), c.byOperator)
		if c.want == "" {
			if len(patch) > 0 {
				t.Errorf("%s: it is patched with %v", c.what, patch)
			}
			continue
		}
		encoded, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := jsonpatch.DecodePatch(encoded)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decoded.Apply([]byte(c.submitted))
		if err != nil {
			t.Errorf("%s: %s: %v", c.what, encoded, err)
			continue
		}
		if !jsonpatch.Equal(got, []byte(c.want)) || string(got) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.what, got, c.want)
		}
	}
}

func parse(t *testing.T, text string) submitted {
	t.Helper()
	var release submitted
	if err := json.Unmarshal([]byte(text), &release); err != nil {
		t.Fatal(err)
	}
	return release
}

func parseOld(t *testing.T, text string) *submitted {
	t.Helper()
	if text == "" {
		return nil
	}
	old := parse(t, text)
	return &old
}
