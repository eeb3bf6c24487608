package main

import (
	"fmt"
	"testing"
)

// The operator overwrites the values at every look, and the webhook puts the same in
// again, so that the API server has nothing to store.
func TestOverrideByAWebhookIsStoredOnceAndStays(t *testing.T) {
	pkg, release := newInstalled(t, "overridden", "{components: {overridden: {values: {a: b}}}}")
	override(t, "overridden")
	before := updates(t, release)
	awaitOverride(t, release, "overridden")
	generation := release.GetGeneration()
	for i := range 20 {
		triggers(t, "a status", release, func() { changeStatus(t, release, fmt.Sprintf("status: {observedGeneration: %d}", i)) })
	}
	want(t, read(t, release), map[string]any{"a": "b", "over": "overridden"}, "spec", "values")
	want(t, release, "overridden", "metadata", "labels", "example.org/webhook")
	if written := updates(t, release); written.Changed != before.Changed || release.GetGeneration() != generation {
		t.Errorf("updates %+v after %+v, generation %d after %d; want none that changed anything", written, before, release.GetGeneration(), generation)
	}

	setValues(t, pkg, release, "a", "c")
	generation = release.GetGeneration()
	for i := range 5 {
		triggers(t, "a status", release, func() { changeStatus(t, release, fmt.Sprintf("status: {observedGeneration: 10%d}", i)) })
	}
	want(t, read(t, release), map[string]any{"a": "c", "over": "overridden"}, "spec", "values")
	if written := updates(t, release); written.Changed != before.Changed+1 || release.GetGeneration() != generation {
		t.Errorf("updates %+v after %+v, generation %d after %d; want one that changed something", written, before, release.GetGeneration(), generation)
	}
}
