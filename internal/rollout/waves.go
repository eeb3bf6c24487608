// Package rollout decides which tenants' controllers may take a new
// configuration now: in waves, so that a broken image stops at the first one.
package rollout

import "slices"

// Controller is what is known of one tenant's controller.
type Controller struct {
	// Tenant is its namespace.
	Tenant string
	// Current says that it was stamped from the configuration of now.
	Current bool
	// Passed says that its pod has been ready as it was stamped last, or was not
	// ready before either: a tenant that breaks its own controller, whenever, must
	// not keep an update from the others.
	Passed bool
}

// Verdict says whether a controller may be updated.
type Verdict struct {
	// Allowed: it belongs to the wave that is on.
	Allowed bool
	// WaitsFor are the tenants of an earlier wave whose controllers have not
	// taken the configuration and passed.
	WaitsFor []string
}

// Next decides for one tenant. The waves are the tenants, sorted by name, cut
// into batches: a tenant's turn comes when every controller of every earlier
// wave is current and has passed. It depends on nothing but the list, so replicas and
// late caches decide alike; a late cache can only delay. A batch below 1 counts
// as 1.
func Next(tenant string, all []Controller, batch int) Verdict {
	batch = max(batch, 1)
	sorted := slices.SortedFunc(slices.Values(all), func(a, b Controller) int {
		if a.Tenant < b.Tenant {
			return -1
		}
		if a.Tenant > b.Tenant {
			return 1
		}
		return 0
	})
	rank := slices.IndexFunc(sorted, func(c Controller) bool { return c.Tenant == tenant })
	if rank < 0 {
		// It has no controller yet: nothing is replaced, so nothing can break.
		return Verdict{Allowed: true}
	}
	var verdict Verdict
	for _, earlier := range sorted[:rank/batch*batch] {
		if !earlier.Current || !earlier.Passed {
			verdict.WaitsFor = append(verdict.WaitsFor, earlier.Tenant)
		}
	}
	verdict.Allowed = len(verdict.WaitsFor) == 0
	return verdict
}
