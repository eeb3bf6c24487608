package override_test

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
)

// ofSize are values of so many bytes.
func ofSize(size int) cozyv1.ComponentValues {
	const frame = `{"a":""}`
	return cozyv1.ComponentValues{Values: json(`{"a":"` + strings.Repeat("x", size-len(frame)) + `"}`)}
}

func TestValuesAreShownUpToABound(t *testing.T) {
	const kib = 1 << 10
	for size, shown := range map[int]bool{64 * kib: true, 64*kib + 1: false} {
		got := seenOf(``, "web", ofSize(size)).Components()[0]
		if (got.Values != nil) != shown || got.Digest == "" || got.OverriddenCount != 1 {
			t.Errorf("%d bytes are shown: %t; digest %q, %d overridden", size, got.Values != nil, got.Digest, got.OverriddenCount)
		}
	}
	seen := seenOf(``, "c0", ofSize(60*kib))
	for i := 1; i < 5; i++ {
		seen.Values.Spec.Components[fmt.Sprint("c", i)] = ofSize(60 * kib)
	}
	seen.Values.Spec.Components["c5"] = ofSize(16 * kib)
	seen.Values.Spec.Components["c6"] = ofSize(8)
	var shown []string
	for _, component := range seen.Components() {
		if component.Values != nil {
			shown = append(shown, component.Name)
		}
	}
	// Four times 60 KiB and once 16 are 256; after that not a byte.
	if fmt.Sprint(shown) != "[c0 c1 c2 c3 c5]" {
		t.Errorf("shown are %v", shown)
	}
}

func TestListsAreCutOff(t *testing.T) {
	under, over := map[string]any{}, map[string]any{}
	var with cozyv1.ComponentValues
	for i := range 120 {
		under[fmt.Sprintf("k%03d", i)], over[fmt.Sprintf("k%03d", i)] = []int{1}, []int{2, 3}
		with.Unset = append(with.Unset, fmt.Sprintf("scalar.x%03d", i))
	}
	under["scalar"] = 1
	with.Values = json(encode(t, over))
	got := seenOf(encode(t, under), "web", with).Components()[0]
	if len(got.Overridden) != 100 || got.OverriddenCount != 120 || len(got.Shadowed) != 100 || len(got.ReplacedLists) != 50 || len(got.WithoutEffect) != 50 {
		t.Errorf("%d of %d overridden, %d shadowed, %d replaced, %d without effect", len(got.Overridden), got.OverriddenCount, len(got.Shadowed), len(got.ReplacedLists), len(got.WithoutEffect))
	}
	if got.Overridden[99] != "k099" || got.ReplacedLists[49].Path != "k049" {
		t.Errorf("the last ones are %s and %+v", got.Overridden[99], got.ReplacedLists[49])
	}
}

// TestStatusStaysSmall has as many components as there may be, with names of keys that are long,
// and all that can be wrong with each.
func TestStatusStaysSmall(t *testing.T) {
	long := strings.Repeat("k", 5000)
	inner := map[string]any{}
	for i := range 100 {
		inner[fmt.Sprint(long, i)] = i
	}
	good := cozyv1.ComponentValues{Values: json(encode(t, map[string]any{"map": inner}))}
	bad := cozyv1.ComponentValues{}
	for i := range 256 {
		bad.Unset = append(bad.Unset, fmt.Sprintf("%s..%d", long[:1000], i))
	}
	for what, with := range map[string]cozyv1.ComponentValues{"long paths": good, "all wrong": bad} {
		seen := seenOf(``, "c0", with)
		for i := 1; i < 64; i++ {
			seen.Values.Spec.Components[fmt.Sprint("c", i)] = with
		}
		components := seen.Components()
		if size := len(encode(t, components)); size > 640<<10 {
			t.Errorf("%s: the status has %d bytes", what, size)
		}
		for _, component := range components {
			if len(component.Message) > 1024 {
				t.Errorf("%s: a message has %d bytes", what, len(component.Message))
			}
			for _, path := range component.Overridden {
				if len(path) > 1024 {
					t.Errorf("%s: a path has %d bytes", what, len(path))
				}
			}
		}
		if verdict := override.VerdictOf(seen.Values.Spec, components); len(verdict.Message) > 8<<10 || !strings.HasSuffix(verdict.Message, "; and 59 more") {
			t.Errorf("%s: %d bytes are told: %s", what, len(verdict.Message), verdict.Message)
		}
	}
}

func encode(t *testing.T, content any) string {
	t.Helper()
	encoded, err := stdjson.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
