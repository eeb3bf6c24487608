package resolve_test

import (
	"slices"

	"github.com/cozystack/gitops-operator/internal/resolve"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// cluster is what there is, as a test has written it down.
type cluster struct {
	tenants     map[string][]string
	instances   map[[2]string]resolve.Instance
	definitions map[string]resolve.Definition
}

// parent is the nearest of the tenants that the labels name, by the number of those above it.
func (c *cluster) parent(tenant string) string {
	above := func(name string) (distinct []string) {
		for _, a := range c.tenants[name] {
			if a != name && name != tenancy.Root && !slices.Contains(distinct, a) {
				distinct = append(distinct, a)
			}
		}
		return distinct
	}
	nearest := ""
	for _, name := range slices.Sorted(slices.Values(above(tenant))) {
		if _, there := c.tenants[name]; there && (nearest == "" || len(above(name)) > len(above(nearest))) {
			nearest = name
		}
	}
	if _, there := c.tenants[tenancy.Root]; nearest == "" && there && tenant != tenancy.Root {
		return tenancy.Root
	}
	return nearest
}

// provider goes up from a tenant until somebody has the class.
func (c *cluster) provider(tenant, class string) string {
	var seen []string
	for at := tenant; at != "" && !slices.Contains(seen, at); at = c.parent(at) {
		for _, i := range c.instances {
			d := c.definitions[i.Kind]
			if i.Tenant == at && i.Live && slices.Contains(d.Provides, class) && (d.Shares || at == tenant) {
				return at
			}
		}
		seen = append(seen, at)
	}
	return ""
}

func (c *cluster) provided(tenant string) resolve.Provided {
	provided := resolve.Provided{}
	for _, class := range classes {
		if provider := c.provider(tenant, class); provider != "" {
			provided[class] = provider
		}
	}
	return provided
}
