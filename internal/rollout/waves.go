// Package rollout decides which tenants' controllers may take a new
// configuration now: in waves, so that a broken image stops at the first one.
package rollout

import (
	"cmp"
	"slices"
)

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
	sorted := byTenant(all)
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

// HeldUp returns the tenants whose controllers have not the configuration yet
// and wait for this tenant's.
func HeldUp(tenant string, all []Controller, batch int) []string {
	batch = max(batch, 1)
	sorted := byTenant(all)
	rank := slices.IndexFunc(sorted, func(c Controller) bool { return c.Tenant == tenant })
	if rank < 0 || sorted[rank].Current && sorted[rank].Passed {
		return nil
	}
	var held []string
	for _, later := range sorted[min(len(sorted), (rank/batch+1)*batch):] {
		if !later.Current {
			held = append(held, later.Tenant)
		}
	}
	return held
}

func byTenant(all []Controller) []Controller {
	return slices.SortedFunc(slices.Values(all), func(a, b Controller) int { return cmp.Compare(a.Tenant, b.Tenant) })
}
