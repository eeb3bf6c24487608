package resolve_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/resolve"
)

// child is a tenant as the platform labels one: with all above it, and itself.
func child(name string) resolve.Tenant {
	ancestors := []string{"tenant-root"}
	parts := strings.Split(name, "-")
	for i := 2; i <= len(parts); i++ {
		ancestors = append(ancestors, strings.Join(parts[:i], "-"))
	}
	return resolve.Tenant{Name: name, Ancestors: ancestors}
}

func live(tenant, kind string) resolve.Instance {
	return resolve.Instance{Tenant: tenant, Name: strings.ToLower(kind), Kind: kind, Live: true}
}

var definitions = map[string]resolve.Definition{
	"Monitoring":   {Provides: []string{"monitoring"}, Shares: true},
	"Ingress":      {Provides: []string{"ingress"}, Shares: true},
	"Edge":         {Provides: []string{"ingress", "gateway"}, Shares: true},
	"ComputePlane": {Provides: []string{"compute"}},
	"Postgres":     {},
}

// TestProviders is the table of the design: whose instance a tenant uses.
func TestProviders(t *testing.T) {
	tree := []resolve.Tenant{{Name: "tenant-root"}, child("tenant-a"), child("tenant-a-b"), child("tenant-a-b-c"), child("tenant-d")}
	suspended := live("tenant-a", "Monitoring")
	suspended.Live = false
	second := live("tenant-a", "Monitoring")
	second.Name = "second"
	for name, c := range map[string]struct {
		tenants   []resolve.Tenant
		instances []resolve.Instance
		// want is whose tenant-a-b-c uses.
		want resolve.Provided
	}{
		"nobody's":                          {want: resolve.Provided{}},
		"its own":                           {instances: []resolve.Instance{live("tenant-a-b-c", "Monitoring"), live("tenant-a", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-a-b-c"}},
		"its parent's":                      {instances: []resolve.Instance{live("tenant-a-b", "Monitoring"), live("tenant-root", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-a-b"}},
		"its grandparent's":                 {instances: []resolve.Instance{live("tenant-a", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-a"}},
		"the root's":                        {instances: []resolve.Instance{live("tenant-root", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-root"}},
		"not that of a tenant beside":       {instances: []resolve.Instance{live("tenant-d", "Monitoring")}, want: resolve.Provided{}},
		"not that of a parent who keeps":    {instances: []resolve.Instance{live("tenant-a-b", "ComputePlane")}, want: resolve.Provided{}},
		"its own, which it keeps":           {instances: []resolve.Instance{live("tenant-a-b-c", "ComputePlane")}, want: resolve.Provided{"compute": "tenant-a-b-c"}},
		"not one that is suspended":         {instances: []resolve.Instance{suspended, live("tenant-root", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-root"}},
		"the other one of two":              {instances: []resolve.Instance{suspended, second}, want: resolve.Provided{"monitoring": "tenant-a"}},
		"each class of its own":             {instances: []resolve.Instance{live("tenant-a", "Edge"), live("tenant-a-b", "Ingress")}, want: resolve.Provided{"ingress": "tenant-a-b", "gateway": "tenant-a"}},
		"nothing of what offers none":       {instances: []resolve.Instance{live("tenant-a", "Postgres"), live("tenant-a", "Unknown")}, want: resolve.Provided{}},
		"the root's, without labels":        {tenants: []resolve.Tenant{{Name: "tenant-root"}, {Name: "tenant-a-b-c"}}, instances: []resolve.Instance{live("tenant-root", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-root"}},
		"where the parent is missing":       {tenants: []resolve.Tenant{{Name: "tenant-root"}, child("tenant-a"), child("tenant-a-b-c")}, instances: []resolve.Instance{live("tenant-a-b", "Monitoring"), live("tenant-a", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-a"}},
		"of a ring, the nearest":            {tenants: []resolve.Tenant{{Name: "tenant-a-b-c", Ancestors: []string{"tenant-x"}}, {Name: "tenant-x", Ancestors: []string{"tenant-a-b-c"}}}, instances: []resolve.Instance{live("tenant-x", "Monitoring")}, want: resolve.Provided{"monitoring": "tenant-x"}},
		"what labels of the root say is no": {tenants: []resolve.Tenant{{Name: "tenant-root", Ancestors: []string{"tenant-d"}}, child("tenant-d"), child("tenant-a-b-c")}, instances: []resolve.Instance{live("tenant-d", "Monitoring")}, want: resolve.Provided{}},
	} {
		t.Run(name, func(t *testing.T) {
			tenants := c.tenants
			if tenants == nil {
				tenants = tree
			}
			got := resolve.Providers(tenants, c.instances, definitions)["tenant-a-b-c"]
			if !maps.Equal(got, c.want) {
				t.Errorf("it uses %v, want %v", got, c.want)
			}
		})
	}
}

// TestChangesAreTheTenantsConcerned: what comes between a provider and those below it concerns
// exactly these.
func TestChangesAreTheTenantsConcerned(t *testing.T) {
	x := resolve.NewIndex()
	for kind, definition := range definitions {
		x.SetDefinition(kind, definition)
	}
	for _, tenant := range []resolve.Tenant{{Name: "tenant-root"}, child("tenant-a"), child("tenant-a-b"), child("tenant-a-c"), child("tenant-a-b-e"), child("tenant-d")} {
		if changed := x.SetTenant(tenant); len(changed) > 0 {
			t.Errorf("without providers %v are concerned", changed)
		}
	}
	for _, step := range []struct {
		what string
		do   func() []string
		want []string
	}{
		{"the root gets one", func() []string { return x.SetInstance(live("tenant-root", "Monitoring")) }, []string{"tenant-a", "tenant-a-b", "tenant-a-b-e", "tenant-a-c", "tenant-d", "tenant-root"}},
		{"it is written again", func() []string { return x.SetInstance(live("tenant-root", "Monitoring")) }, nil},
		{"one comes between", func() []string { return x.SetInstance(live("tenant-a-b", "Monitoring")) }, []string{"tenant-a-b", "tenant-a-b-e"}},
		{"one comes above that", func() []string { return x.SetInstance(live("tenant-a", "Monitoring")) }, []string{"tenant-a", "tenant-a-c"}},
		{"one of its own", func() []string { return x.SetInstance(live("tenant-a-b-e", "ComputePlane")) }, []string{"tenant-a-b-e"}},
		{"the kind shares no more", func() []string {
			return x.SetDefinition("Monitoring", resolve.Definition{Provides: []string{"monitoring"}})
		}, []string{"tenant-a-b-e", "tenant-a-c", "tenant-d"}},
		{"it shares again", func() []string { return x.SetDefinition("Monitoring", definitions["Monitoring"]) }, []string{"tenant-a-b-e", "tenant-a-c", "tenant-d"}},
		{"one goes", func() []string { return x.DeleteInstance("tenant-a", "monitoring") }, []string{"tenant-a", "tenant-a-c"}},
		{"a tenant goes", func() []string { return x.DeleteTenant("tenant-a-b") }, []string{"tenant-a-b-e"}},
		{"it comes back", func() []string { return x.SetTenant(child("tenant-a-b")) }, []string{"tenant-a-b", "tenant-a-b-e"}},
		{"the root goes", func() []string { return x.DeleteTenant("tenant-root") }, []string{"tenant-a", "tenant-a-c", "tenant-d"}},
	} {
		if changed := step.do(); !slices.Equal(changed, step.want) {
			t.Errorf("%s: %v are concerned, want %v", step.what, changed, step.want)
		}
	}
}
