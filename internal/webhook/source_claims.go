package webhook

import (
	"context"
	"sync"
	"time"
)

// claimLife is how long a source that was let through counts although it is not seen:
// longer than the API server may take to store it. One that was refused elsewhere after
// all counts for as long.
const claimLife = 30 * time.Second

// sourceID tells the sources of a namespace apart.
type sourceID struct{ kind, name string }

// sourceClaims counts the sources of namespaces so that of creations at the same time no
// more pass than would one after the other. It knows only of those that this replica let
// through: two replicas may each let a last one through at the same moment, and a namespace
// then has one too many for each replica beside the first.
type sourceClaims struct {
	mu         sync.Mutex
	namespaces map[string]*namespaceClaims
}

// namespaceClaims are those of one namespace.
type namespaceClaims struct {
	// turn is held by the one request that counts.
	turn chan struct{}
	// waiting is how many requests hold on to this.
	waiting int
	// claimed are when sources were let through that have not been seen.
	claimed map[sourceID]time.Time
}

// count is what a request finds when it is its turn.
type count struct {
	claims *namespaceClaims
	id     sourceID
	// others are the sources beside the one that is created.
	others int
}

// inTurn waits for its turn in the namespace, counts, and calls decide.
func (s *sourceClaims) inTurn(ctx context.Context, namespace string, id sourceID, list func() ([]sourceID, error), decide func(count)) error {
	claims := s.hold(namespace)
	defer s.release(claims)
	select {
	case claims.turn <- struct{}{}:
		defer func() { <-claims.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	existing, err := list()
	if err != nil {
		return err
	}
	decide(count{claims: claims, id: id, others: claims.others(id, existing, time.Now())})
	return nil
}

// take has the source count from now on.
func (c count) take() { c.claims.claimed[c.id] = time.Now() }

// others counts what exists and what is on its way, but for the source itself: another
// creation of it takes no second place.
func (n *namespaceClaims) others(id sourceID, existing []sourceID, now time.Time) int {
	others := 0
	for _, seen := range existing {
		delete(n.claimed, seen)
		if seen != id {
			others++
		}
	}
	for claimed, at := range n.claimed {
		switch {
		case now.Sub(at) > claimLife:
			delete(n.claimed, claimed)
		case claimed != id:
			others++
		}
	}
	return others
}

func (s *sourceClaims) hold(namespace string) *namespaceClaims {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.namespaces == nil {
		s.namespaces = map[string]*namespaceClaims{}
	}
	claims := s.namespaces[namespace]
	if claims == nil {
		claims = &namespaceClaims{turn: make(chan struct{}, 1), claimed: map[sourceID]time.Time{}}
		s.namespaces[namespace] = claims
	}
	claims.waiting++
	return claims
}

// anyLive says whether a creation may still be on its way.
func (n *namespaceClaims) anyLive(now time.Time) bool {
	for _, at := range n.claimed {
		if now.Sub(at) <= claimLife {
			return true
		}
	}
	return false
}

// release forgets the namespaces in which nothing is on its way.
func (s *sourceClaims) release(claims *namespaceClaims) {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims.waiting--
	now := time.Now()
	for name, other := range s.namespaces {
		// Whoever waits looks at the claims; where nobody does they only grow old.
		if other.waiting == 0 && !other.anyLive(now) {
			delete(s.namespaces, name)
		}
	}
}
