package merge_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// shape makes an override of about so many bytes, and the values that it is laid over.
type shape func(size int) (values string, override merge.Override)

// deepMap has many keys so many levels down.
func deepMap(levels int) shape {
	return func(size int) (string, merge.Override) {
		members := func(value string) string {
			var all []string
			for i := range size / 13 {
				all = append(all, fmt.Sprintf(`"k%07d":%s`, i, value))
			}
			return strings.Repeat(`{"a":`, levels-1) + "{" + strings.Join(all, ",") + "}" + strings.Repeat("}", levels-1)
		}
		return members("1"), of(members("2"))
	}
}

// branches has many maps in each other, and one key in each of the innermost.
func branches(size int) (string, merge.Override) {
	members := func(value string) string {
		var all []string
		for i := range size / 600 {
			all = append(all, fmt.Sprintf(`"k%07d":`, i)+strings.Repeat(`{"a":`, 98)+value+strings.Repeat("}", 98))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return members("1"), of(members("2"))
}

// itemsByKey has every other item in both lists.
func itemsByKey(size int) (string, merge.Override) {
	list := func(step int) string {
		var all []string
		for i := range size / 26 {
			all = append(all, fmt.Sprintf(`{"name":"n%07d","v":%d}`, i*step, step))
		}
		return `{"a":[` + strings.Join(all, ",") + `]}`
	}
	at, err := merge.ParsePath("a")
	if err != nil {
		panic(err)
	}
	return list(1), merge.Override{Values: []byte(list(2)), Lists: []merge.ListRule{{Path: at, Strategy: merge.MergeByKey, Key: "name"}}}
}

// smallItems are lists that differ in their last item.
func smallItems(size int) (string, merge.Override) {
	list := func(last string) string { return `{"a":[` + strings.Repeat("0,", size/2) + last + `]}` }
	return list("1"), of(list("2"))
}

var shapes = map[string]shape{"flat": deepMap(1), "deep": deepMap(100), "branches": branches, "items by key": itemsByKey, "small items": smallItems}

// TestCostIsLinear counts the memory that is asked for: with the size of documents it grows
// as they do, and with their depth not at all.
func TestCostIsLinear(t *testing.T) {
	bytesOf := func(s shape, size int) float64 {
		values, override := s(size)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		merged(t, values, override)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(len(values)+len(override.Values))
	}
	if flat, deep := bytesOf(deepMap(1), 1<<20), bytesOf(deepMap(merge.MaxDepth), 1<<20); deep > 1.2*flat {
		t.Errorf("for each byte %.0f where the keys are at the top, %.0f where they are deep down", flat, deep)
	}
	for name, s := range shapes {
		small, large := bytesOf(s, 1<<16), bytesOf(s, 1<<20)
		t.Logf("%s: for each byte %.0f at 64 KiB, %.0f at 1 MiB", name, small, large)
		if large > 2*small || large > 150 {
			t.Errorf("%s: for each byte %.0f bytes at 64 KiB, %.0f at 1 MiB", name, small, large)
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	for name, s := range shapes {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			values, override := s(1 << 20)
			b.SetBytes(int64(len(values) + len(override.Values)))
			b.ReportAllocs()
			for b.Loop() {
				result, err := merge.Merge([]byte(values), override)
				if err != nil || bytes.Equal(result.Values, []byte(values)) {
					b.Fatalf("nothing is merged: %v", err)
				}
			}
		})
	}
}
