package removal_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// FuzzAnySpec has git apply any JSON as a spec, one after the other: each time the same is
// stored as where managed fields are, and what the webhook answers with leads there.
func FuzzAnySpec(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		for name, s := range map[string]*server{
			"lists are merged":   merging(t, byPatch(t, withSchema(t))),
			"lists are replaced": replacing(t, byPatch(t, withSchema(t))),
		} {
			random := rand.New(rand.NewPCG(seed, 3))
			native := customResources(t)
			for step := range 5 {
				manifest := withContent(anyMap(random, 3))
				// Flux always sets its labels.
				manifest["metadata"] = map[string]any{"labels": map[string]any{"owner": "x"}}
				before, nativeBefore := s.stored, native.stored
				if s.tryApply(t, manifest) != nil || native.tryApply(t, manifest) != nil {
					// It does not fit the schema.
					s.stored, native.stored = before, nativeBefore
					continue
				}
				// As JSON: which has passed through it has whole numbers where 1e3 was.
				if got, want := text(t, withoutEmptyLists(s)), text(t, withoutEmptyLists(native)); got != want {
					t.Fatalf("seed %d, step %d, %s, before\n%s\napplied\n%s\ngot\n%s\nwant\n%s", seed, step, name,
						text(t, before), text(t, manifest), got, want)
				}
			}
		}
	})
}

// withoutEmptyLists leaves out the lists of which the field manager tells the items apart
// where they are empty: it does not say then that anybody has set them.
func withoutEmptyLists(s *server) any {
	spec := runtime.DeepCopyJSON(s.content().Spec)
	for _, key := range []string{"databases", "extensions"} {
		if list, isList := spec[key].([]any); isList && len(list) == 0 {
			delete(spec, key)
		}
	}
	return spec
}

// oddKeys are some of the schema, and such as a path or a set could be mistaken in.
var oddKeys = []string{
	"a", "b", "a.b", "a/b", "~", "~1", "~0", "", " ", "é", "日本", "f:a", ".", "k:{}", "v:1", "\"", "\\", "i:0", "\u0000", "<&>",
	"name", "password", "users", "databases", "extensions", "parameters", "resources", "backup", "replicas", "size", "allowedRanges", "retention", "days", "preset", "labels", "owner",
}

// anyValue is any JSON.
func anyValue(r *rand.Rand, depth int) any {
	n := 12
	if depth == 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return []any{int64(1000), int64(10000000000000001), 1e3, 1e21, 0.1, int64(-1), int64(9223372036854775807), 1.5}[r.IntN(8)]
	case 3, 4:
		return oddKeys[r.IntN(len(oddKeys))]
	case 5:
		return map[string]any{}
	case 6:
		return []any{}
	case 7:
		return int64(r.IntN(3))
	case 8, 9:
		var l []any
		for range r.IntN(4) {
			if r.IntN(2) == 0 {
				l = append(l, map[string]any{"name": oddKeys[r.IntN(4)], oddKeys[r.IntN(len(oddKeys))]: anyValue(r, depth-1)})
			} else {
				l = append(l, anyValue(r, depth-1))
			}
		}
		if l == nil {
			return []any{}
		}
		return l
	default:
		return anyMap(r, depth-1)
	}
}

func anyMap(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range r.IntN(5) {
		m[oddKeys[r.IntN(len(oddKeys))]] = anyValue(r, max(depth, 0))
	}
	return m
}

// byPatch decides and applies the webhook's JSON patch as the API server does.
func byPatch(t testing.TB, decide func(removal.Apply) *removal.Removed) func(removal.Apply) *removal.Removed {
	return func(a removal.Apply) *removal.Removed {
		raw, err := json.Marshal(a.Object)
		if err != nil {
			t.Fatal(err)
		}
		a.Object = &unstructured.Unstructured{}
		if err := a.Object.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		if a.Old != nil {
			o, _ := json.Marshal(a.Old)
			a.Old = &unstructured.Unstructured{}
			if err := a.Old.UnmarshalJSON(o); err != nil {
				t.Fatal(err)
			}
		}
		removed := decide(a)
		if removed == nil {
			return nil
		}
		stored, err := json.Marshal(removed.Object)
		if err != nil {
			t.Fatal(err)
		}
		response := admission.PatchResponseFromRaw(raw, stored)
		if len(response.Patches) > 0 {
			p, err := json.Marshal(response.Patches)
			if err != nil {
				t.Fatal(err)
			}
			decoded, err := jsonpatch.DecodePatch(p)
			if err != nil {
				t.Fatal(err)
			}
			raw, err = decoded.Apply(raw)
			if err != nil {
				t.Fatalf("patch %s: %v", p, err)
			}
		}
		got := &unstructured.Unstructured{}
		if err := got.UnmarshalJSON(raw); err != nil {
			t.Fatal(err)
		}
		want := &unstructured.Unstructured{}
		_ = want.UnmarshalJSON(stored)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("patch gives\n%s\nwant\n%s", raw, stored)
		}
		removed.Object = got
		return removed
	}
}

// tryApply applies twice, as Flux does, what the schema may refuse.
func (s *server) tryApply(t testing.TB, content map[string]any) error {
	t.Helper()
	for range 2 {
		live := s.live()
		applied := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(content)}
		applied.SetGroupVersionKind(kind)
		applied.SetName("db")
		merged, err := s.fields.Apply(live, applied, flux, true)
		if err != nil {
			return err
		}
		if merged == nil {
			merged = live
		}
		s.store(t, merged.(*unstructured.Unstructured))
	}
	return nil
}
