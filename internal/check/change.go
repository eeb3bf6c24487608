package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Change is one value that is another afterwards.
type Change struct {
	// Path as unset has it: keys joined by dots.
	Path string `json:"path"`
	// Before and After are JSON; one of them is absent for what is added or removed.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// String is the change on one line.
func (c Change) String() string {
	switch {
	case c.Before == nil:
		return fmt.Sprintf("+ %s: %s", c.Path, c.After)
	case c.After == nil:
		return fmt.Sprintf("- %s: %s", c.Path, c.Before)
	}
	return fmt.Sprintf("~ %s: %s -> %s", c.Path, c.Before, c.After)
}

// changes compares two values; maps key by key, and all else as a whole.
func changes(path []string, before, after any) []Change {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	if path == nil {
		// No values at all are as good as none in a map.
		wasMap, isMap = true, true
	}
	if !wasMap || !isMap {
		return []Change{{Path: written(path), Before: asJSON(before), After: asJSON(after)}}
	}
	keys := map[string]bool{}
	for _, side := range []map[string]any{was, is} {
		for key := range side {
			keys[key] = true
		}
	}
	var found []Change
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		inner := append(slices.Clone(path), key)
		old, had := was[key]
		value, has := is[key]
		switch {
		case !had:
			found = append(found, Change{Path: written(inner), After: asJSON(value)})
		case !has:
			found = append(found, Change{Path: written(inner), Before: asJSON(old)})
		default:
			found = append(found, changes(inner, old, value)...)
		}
	}
	return found
}

// asJSON encodes what was decoded from JSON.
func asJSON(value any) json.RawMessage {
	encoded, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return encoded
}
