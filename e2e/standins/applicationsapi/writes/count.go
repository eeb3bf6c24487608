// Package writes counts what becomes of the writes of applications.
package writes

import (
	"encoding/json"
	"net/http"
	"sort"
	"sync"
)

// Path is where the counts are served, as a JSON list of Count.
const Path = "/writes"

// Count says how many writes of a sort were stored.
type Count struct {
	// Verb is that of the request: create, update, patch or delete.
	Verb string `json:"verb"`
	// Kind is the application's.
	Kind string `json:"kind"`
	// Changed are the writes that changed something in storage, Unchanged those that
	// did not.
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
}

// Counter counts from the start of the program. The zero value is ready for use.
type Counter struct {
	mu     sync.Mutex
	counts map[[2]string]*Count
}

// Add counts one write that was stored.
func (c *Counter) Add(verb, kind string, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := [2]string{verb, kind}
	if c.counts == nil {
		c.counts = map[[2]string]*Count{}
	}
	if c.counts[key] == nil {
		c.counts[key] = &Count{Verb: verb, Kind: kind}
	}
	if changed {
		c.counts[key].Changed++
	} else {
		c.counts[key].Unchanged++
	}
}

// Counts are all counts, by kind and verb.
func (c *Counter) Counts() []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := make([]Count, 0, len(c.counts))
	for _, count := range c.counts {
		counts = append(counts, *count)
	}
	sort.Slice(counts, func(i, j int) bool {
		if counts[i].Kind != counts[j].Kind {
			return counts[i].Kind < counts[j].Kind
		}
		return counts[i].Verb < counts[j].Verb
	})
	return counts
}

// ServeHTTP answers with the counts.
func (c *Counter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// The client is gone if this fails, and nobody can be told.
	_ = json.NewEncoder(w).Encode(c.Counts())
}
