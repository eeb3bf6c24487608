package pruneguard_test

import (
	"maps"
	"testing"
	"time"
)

// TestOneOfTenIsPrunedAtOnce, and the status calls nothing a failure on the way.
func TestOneOfTenIsPrunedAtOnce(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-oneoften"
	repository, commit := newTenant(t, namespace, manifests("apps", 10))
	write(t, namespace, folder(t, namespace, "apps", repository))
	awaitApplied(t, namespace, "apps", commit)
	before := applications(t, namespace)

	states := follow(t, namespace, "apps")
	start := time.Now()
	pruned := push(t, namespace, repository, nil, filesOf("apps", 3, 4)...)
	awaitApplications(t, namespace, 9)
	gone := time.Since(start)
	status := awaitApplied(t, namespace, "apps", pruned)
	t.Logf("one of ten was gone %s after the push, and the source ready after %s", gone.Round(10*time.Millisecond), time.Since(start).Round(10*time.Millisecond))
	t.Logf("the guard took %s of it, from the refusal to the deletion", held(t, namespace, start).Round(time.Millisecond))
	if status.Prune != nil || status.Applications != 9 {
		t.Errorf("after the prune the status says %+v", status)
	}
	wantNeverFailed(t, states())
	wantNoGrant(t, namespace, "apps")
	wantEvents(t, namespace, 0)
	delete(before, name("apps", 3))
	if after := applications(t, namespace); !maps.Equal(before, after) {
		t.Errorf("the applications are others than before: %v, were %v", after, before)
	}
}

// TestHalfAndTwo goes to the edges of "more than half and more than two".
func TestHalfAndTwo(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-edges"
	files := manifests("two-of-three", 3)
	maps.Copy(files, manifests("three-of-five", 5))
	maps.Copy(files, manifests("three-of-six", 6))
	repository, commit := newTenant(t, namespace, files)
	edges := []string{"two-of-three", "three-of-five", "three-of-six"}
	write(t, namespace, folder(t, namespace, edges[0], repository), folder(t, namespace, edges[1], repository), folder(t, namespace, edges[2], repository))
	for _, source := range edges {
		awaitApplied(t, namespace, source, commit)
	}
	var removed []string
	for source, count := range map[string]int{edges[0]: 2, edges[1]: 3, edges[2]: 3} {
		removed = append(removed, filesOf(source, 0, count)...)
	}
	pruned := push(t, namespace, repository, nil, removed...)
	awaitApplied(t, namespace, edges[0], pruned)
	awaitApplied(t, namespace, edges[2], pruned)
	awaitBlocked(t, namespace, edges[1], pruned, 3, 5)
	if after := applications(t, namespace); len(after) != 1+5+3 {
		t.Errorf("%d applications are left, want 1 of 3, 5 of 5 and 3 of 6: %v", len(after), after)
	}
}
