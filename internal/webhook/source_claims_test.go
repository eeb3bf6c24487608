package webhook

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestClaimsCountUntilTheyAreSeenOrLapse(t *testing.T) {
	now := time.Now()
	one, two, three := sourceID{"GitRepository", "one"}, sourceID{"OCIRepository", "one"}, sourceID{"GitRepository", "three"}
	claims := &namespaceClaims{claimed: map[sourceID]time.Time{one: now, two: now.Add(-claimLife / 2)}}
	for _, step := range []struct {
		what     string
		id       sourceID
		existing []sourceID
		at       time.Time
		others   int
	}{
		{"two on their way", three, nil, now, 2},
		{"one of them again", one, nil, now, 1},
		{"one of them is there", three, []sourceID{one}, now, 2},
		{"what was seen has no claim", three, nil, now, 1},
		{"it is there itself", three, []sourceID{three}, now, 1},
		{"the last one lapses", three, nil, now.Add(claimLife), 0},
	} {
		if others := claims.others(step.id, step.existing, step.at); others != step.others {
			t.Errorf("%s: %d others, want %d", step.what, others, step.others)
		}
	}
}

func TestNamespaceIsForgottenWhenNothingIsOnItsWay(t *testing.T) {
	claims := &sourceClaims{}
	id := sourceID{"GitRepository", "one"}
	ask := func(existing []sourceID, decide func(count)) {
		t.Helper()
		list := func() ([]sourceID, error) { return existing, nil }
		if err := claims.inTurn(t.Context(), "tenant-acme", id, list, decide); err != nil {
			t.Fatal(err)
		}
	}
	ask(nil, func(c count) { c.take() })
	if len(claims.namespaces) != 1 {
		t.Error("a source that is on its way is forgotten")
	}
	ask([]sourceID{id}, func(count) {})
	if len(claims.namespaces) != 0 {
		t.Error("a namespace is kept for ever")
	}
}

func TestTurnEndsWithItsRequest(t *testing.T) {
	claims := &sourceClaims{}
	id := sourceID{"GitRepository", "one"}
	none := func() ([]sourceID, error) { return nil, nil }
	err := claims.inTurn(t.Context(), "tenant-acme", id, none, func(count) {
		waiting, cancel := context.WithCancel(t.Context())
		cancel()
		if err := claims.inTurn(waiting, "tenant-acme", id, none, func(count) { t.Error("two had their turn at once") }); !errors.Is(err, context.Canceled) {
			t.Errorf("a request that is over waits on: %v", err)
		}
		if err := claims.inTurn(t.Context(), "tenant-other", id, none, func(count) {}); err != nil {
			t.Errorf("another namespace waits too: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
