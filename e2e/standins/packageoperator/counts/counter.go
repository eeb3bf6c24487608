package counts

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"
)

// Counter counts from the start of the program. The zero value is ready for use.
type Counter struct {
	mu       sync.Mutex
	packages map[string]Reconciled
	writes   map[key]Write
	// applied are the versions that the last applies have left.
	applied map[key]string
}

// Reconciled counts the end of a reconciliation.
func (c *Counter) Reconciled(name string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.packages == nil {
		c.packages = map[string]Reconciled{}
	}
	count := c.packages[name]
	if failed {
		count.Failed++
	} else {
		count.Succeeded++
	}
	c.packages[name] = count
}

// wrote counts a write of the object, whose version was before, and is now.
func (c *Counter) wrote(object Write, before, now string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.writes == nil {
		c.writes, c.applied = map[key]Write{}, map[key]string{}
	}
	id := object.key()
	if object.Verb == Apply {
		before = c.applied[id]
		if err == nil {
			c.applied[id] = now
		}
	}
	if counted, found := c.writes[id]; found {
		object = counted
	}
	switch {
	case err != nil:
		object.Failed++
	case before == now:
		object.Unchanged++
	default:
		object.Changed++
	}
	c.writes[id] = object
}

// Report is what was counted up to now.
func (c *Counter) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	report := Report{Packages: maps.Clone(c.packages), Writes: make([]Write, 0, len(c.writes))}
	for _, write := range c.writes {
		report.Writes = append(report.Writes, write)
	}
	return report
}

// ServeHTTP answers with the report.
func (c *Counter) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	// The client is gone if this fails, and nobody can be told.
	_ = json.NewEncoder(w).Encode(c.Report())
}
