package rollout

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

func TestNext(t *testing.T) {
	old := func(tenant string) Controller { return Controller{Tenant: tenant, Passed: true} }
	done := func(tenant string) Controller { return Controller{Tenant: tenant, Current: true, Passed: true} }
	broken := func(tenant string) Controller { return Controller{Tenant: tenant, Current: true} }

	for _, tc := range []struct {
		name    string
		all     []Controller
		tenant  string
		allowed bool
		waits   []string
	}{
		{"the first wave starts", []Controller{old("a"), old("b"), old("c")}, "b", true, nil},
		{"the second waits for the first", []Controller{old("a"), old("b"), old("c")}, "c", false, []string{"a", "b"}},
		{"it halts at a broken one, and names it", []Controller{done("a"), broken("b"), old("c")}, "c", false, []string{"b"}},
		{"it goes on", []Controller{done("a"), done("b"), old("c")}, "c", true, nil},
		{"a broken one may be put right", []Controller{broken("a"), broken("b"), done("c")}, "a", true, nil},
		{"a new tenant waits for nobody", []Controller{broken("a"), broken("b")}, "z", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Next(tc.tenant, tc.all, 2)
			if got.Allowed != tc.allowed || !slices.Equal(got.WaitsFor, tc.waits) {
				t.Errorf("got %+v", got)
			}
			for _, c := range tc.all {
				held := slices.Contains(HeldUp(c.Tenant, tc.all, 2), tc.tenant)
				waits := slices.Contains(got.WaitsFor, c.Tenant) && !current(tc.all, tc.tenant)
				if held != waits {
					t.Errorf("%s holds up %s: %v, which waits for %v", c.Tenant, tc.tenant, held, got.WaitsFor)
				}
			}
		})
	}
}

func current(all []Controller, tenant string) bool {
	return slices.ContainsFunc(all, func(c Controller) bool { return c.Tenant == tenant && c.Current })
}

// TestRolloutEndsAndNeverExceedsItsBatch plays random rollouts: at no time are
// more than a batch of controllers updated and not yet ready, and all end current.
func TestRolloutEndsAndNeverExceedsItsBatch(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		batch := 1 + random.Intn(4)
		all := make([]Controller, 1+random.Intn(12))
		for i := range all {
			all[i] = Controller{Tenant: fmt.Sprintf("tenant-%02d", i), Passed: true}
		}
		for range 1000 {
			i := random.Intn(len(all))
			switch {
			case all[i].Current && !all[i].Passed:
				all[i].Passed = true
			case !all[i].Current && Next(all[i].Tenant, all, batch).Allowed:
				all[i] = Controller{Tenant: all[i].Tenant, Current: true}
			}
			inFlight := 0
			for _, c := range all {
				if c.Current && !c.Passed {
					inFlight++
				}
			}
			if inFlight > batch {
				t.Fatalf("%d controllers are being updated, the batch is %d", inFlight, batch)
			}
		}
		for _, c := range all {
			if !c.Current {
				t.Fatalf("the rollout never reached %s", c.Tenant)
			}
		}
	}
}
