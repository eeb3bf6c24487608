package tenantgitops

import (
	"testing"
	"time"
)

// TestLabelsAreNotLookedAtAtEachWrite: the same inventories once in a while, others at once.
func TestLabelsAreNotLookedAtAtEachWrite(t *testing.T) {
	now := time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)
	var looks labelLooks
	for _, step := range []struct {
		tenant, digest string
		at             time.Duration
		want           time.Duration
	}{
		{"tenant-a", "one", 0, 0},
		{"tenant-a", "one", time.Second, pendingInterval - time.Second},
		{"tenant-b", "one", time.Second, 0},
		{"tenant-a", "two", 2 * time.Second, 0},
		{"tenant-a", "one", 3 * time.Second, 0},
		{"tenant-a", "one", 3*time.Second + pendingInterval, 0},
	} {
		if got := looks.left(step.tenant, step.digest, now.Add(step.at)); got != step.want {
			t.Errorf("%s with %s after %s: wait %s, want %s", step.tenant, step.digest, step.at, got, step.want)
		}
	}
	looks.forget("tenant-b")
	if got := looks.left("tenant-b", "one", now.Add(2*time.Second)); got != 0 {
		t.Errorf("after it was forgotten: wait %s", got)
	}
}
