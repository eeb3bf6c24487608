package resolve_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cozystack/gitops-operator/internal/resolve"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

var (
	classes = []string{"monitoring", "ingress", "gateway"}
	kinds   = []string{"A", "B", "C", "D"}
)

// draws are choices; a fuzz makes them from bytes.
type draws interface{ IntN(n int) int }

// step does the same random thing to the index and to what a test has written down, and returns
// who is concerned by the index.
func (c *cluster) step(x *resolve.Index, d draws, names []string) (what string, changed []string) {
	name := names[d.IntN(len(names))]
	key := [2]string{name, fmt.Sprint("release", d.IntN(3))}
	switch d.IntN(8) {
	case 0, 1:
		// Damaged labels: anybody may be above anybody.
		var ancestors []string
		for range d.IntN(5) {
			ancestors = append(ancestors, names[d.IntN(len(names))])
		}
		c.tenants[name] = ancestors
		return fmt.Sprintf("set %s below %v", name, ancestors), x.SetTenant(resolve.Tenant{Name: name, Ancestors: ancestors})
	case 2:
		delete(c.tenants, name)
		return "delete " + name, x.DeleteTenant(name)
	case 3:
		delete(c.instances, key)
		return fmt.Sprint("delete ", key), x.DeleteInstance(key[0], key[1])
	case 4:
		definition := resolve.Definition{Shares: d.IntN(3) > 0}
		for range d.IntN(3) {
			definition.Provides = append(definition.Provides, classes[d.IntN(len(classes))])
		}
		kind := kinds[d.IntN(len(kinds))]
		c.definitions[kind] = definition
		return fmt.Sprintf("define %s as %+v", kind, definition), x.SetDefinition(kind, definition)
	default:
		instance := resolve.Instance{Tenant: key[0], Name: key[1], Kind: kinds[d.IntN(len(kinds))], Live: d.IntN(4) > 0}
		c.instances[key] = instance
		return fmt.Sprintf("set %+v", instance), x.SetInstance(instance)
	}
}

func newCluster() *cluster {
	return &cluster{tenants: map[string][]string{}, instances: map[[2]string]resolve.Instance{}, definitions: map[string]resolve.Definition{}}
}

// walk does a number of random things, and compares after each: what every tenant uses with what
// the naive way finds, who is concerned with whose has changed, and all of it with an index that
// is made anew.
func walk(t *testing.T, d draws, steps int) {
	t.Helper()
	names := []string{tenancy.Root}
	for i := range 2 + d.IntN(9) {
		names = append(names, fmt.Sprint("tenant-", i))
	}
	c, x := newCluster(), resolve.NewIndex()
	before := map[string]resolve.Provided{}
	var done []string
	for range steps {
		what, told := c.step(x, d, names)
		done = append(done, what)
		after := map[string]resolve.Provided{}
		var changed []string
		for tenant := range c.tenants {
			after[tenant] = c.provided(tenant)
			if got := x.Provided(tenant); !maps.Equal(got, after[tenant]) {
				t.Fatalf("%s uses %v, want %v, after %q", tenant, got, after[tenant], done)
			}
			if !maps.Equal(before[tenant], after[tenant]) {
				changed = append(changed, tenant)
			}
		}
		slices.Sort(changed)
		if !slices.Equal(told, changed) {
			t.Fatalf("%v are concerned, want %v, after %q", told, changed, done)
		}
		before = after
	}
	var tenants []resolve.Tenant
	for name, ancestors := range c.tenants {
		tenants = append(tenants, resolve.Tenant{Name: name, Ancestors: ancestors})
	}
	anew := resolve.Providers(tenants, slices.Collect(maps.Values(c.instances)), c.definitions)
	if !maps.EqualFunc(anew, before, maps.Equal) {
		t.Fatalf("made anew they use %v, want %v, after %q", anew, before, done)
	}
}

// TestIndexAgreesWithTheNaiveWay over random trees, whose labels are damaged as often as not.
func TestIndexAgreesWithTheNaiveWay(t *testing.T) {
	for seed := range uint64(3000) {
		walk(t, rand.New(rand.NewPCG(seed, 1)), 40)
	}
}

// TestTenThousandTenants: sound labels of a platform, up to eight tenants deep.
func TestTenThousandTenants(t *testing.T) {
	const tenants, looks = 10_000, 300
	random := rand.New(rand.NewPCG(8, 10_000))
	c, x := newCluster(), resolve.NewIndex()
	names := []string{tenancy.Root}
	chains := map[string][]string{tenancy.Root: nil}
	put := func(name string) {
		c.tenants[name] = append(slices.Clone(chains[name]), name)
		x.SetTenant(resolve.Tenant{Name: name, Ancestors: c.tenants[name]})
	}
	put(tenancy.Root)
	for kind, definition := range definitions {
		c.definitions[kind] = definition
		x.SetDefinition(kind, definition)
	}
	for len(names) < tenants {
		parent := names[random.IntN(len(names))]
		if len(chains[parent]) == 7 {
			continue
		}
		name := fmt.Sprint("tenant-", len(names))
		chains[name] = append(slices.Clone(chains[parent]), parent)
		names = append(names, name)
		put(name)
		if random.IntN(20) == 0 {
			instance := live(name, "Monitoring")
			c.instances[[2]string{name, instance.Name}] = instance
			x.SetInstance(instance)
		}
	}
	for range looks {
		tenant := names[random.IntN(len(names))]
		if got, want := x.Provided(tenant), c.provided(tenant); !maps.Equal(got, want) {
			t.Fatalf("%s uses %v, want %v", tenant, got, want)
		}
	}
	told := x.SetInstance(live(tenancy.Root, "Monitoring"))
	for _, tenant := range told {
		if got := x.Provided(tenant)["monitoring"]; got != tenancy.Root {
			t.Errorf("%s is concerned, and uses that of %s", tenant, got)
		}
	}
	if len(told) == 0 || len(told) == tenants {
		t.Errorf("%d of %d tenants are concerned", len(told), tenants)
	}
	// Away and back, a tenant is where it was.
	for range looks / 10 {
		tenant := names[1+random.IntN(len(names)-1)]
		before := x.Provided(tenant)
		gone := x.DeleteTenant(tenant)
		put(tenant)
		if after := x.Provided(tenant); !maps.Equal(before, after) {
			t.Errorf("%s uses %v, and used %v before it went; %v were concerned", tenant, after, before, gone)
		}
	}
}

// fuzzed makes choices of bytes.
type fuzzed struct{ data []byte }

func (f *fuzzed) IntN(n int) int {
	if len(f.data) == 0 {
		return 0
	}
	drawn := int(f.data[0]) % n
	f.data = f.data[1:]
	return drawn
}

func FuzzIndex(f *testing.F) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		data := make([]byte, 100)
		for i := range data {
			data[i] = "abcdefghijklmnopqrstuvwxyz0123456789"[random.IntN(36)]
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		walk(t, &fuzzed{data: data[:min(len(data), 400)]}, 30)
	})
}

// BenchmarkOneInstance is what a change at the leaves of a large tree costs, and one at its root
// that concerns everybody.
func BenchmarkOneInstance(b *testing.B) {
	x := resolve.NewIndex()
	x.SetTenant(resolve.Tenant{Name: tenancy.Root})
	for i := range 10_000 {
		x.SetTenant(resolve.Tenant{Name: fmt.Sprint("tenant-t", i), Ancestors: []string{tenancy.Root}})
	}
	x.SetDefinition("Monitoring", definitions["Monitoring"])
	for _, tenant := range []string{"tenant-t9", tenancy.Root} {
		b.Run(tenant, func(b *testing.B) {
			for b.Loop() {
				x.SetInstance(live(tenant, "Monitoring"))
				x.DeleteInstance(tenant, "monitoring")
			}
		})
	}
}
