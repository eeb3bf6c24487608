package resolve

import (
	"maps"
	"slices"
)

// changes are the tenants that use something else than before.
type changes map[string]struct{}

func (c changes) sorted() []string { return slices.Sorted(maps.Keys(c)) }

// adopt gives tenants their parents anew. Those that have got another one look again at all they
// may use, and so do those below them.
func (x *Index) adopt(concerned set, changed changes) {
	var moved []string
	for tenant := range concerned {
		if !x.tree.has(tenant) {
			continue
		}
		if parent := x.tree.nearest(tenant); parent != x.tree.parents[tenant] {
			x.tree.setParent(tenant, parent)
			moved = append(moved, tenant)
		}
	}
	for _, tenant := range moved {
		x.settle(tenant, changed)
	}
}

// settle looks again at all that a tenant, and with it those below, used or may use: what is used
// below is used or offered here or above.
func (x *Index) settle(tenant string, changed changes) {
	classes := set{}
	for class := range x.resolved[tenant] {
		classes[class] = struct{}{}
	}
	for _, above := range x.chain(tenant) {
		for class := range x.offers[above] {
			classes[class] = struct{}{}
		}
	}
	for class := range classes {
		x.spread(tenant, class, changed)
	}
}

// spread looks again at who provides a class to a tenant and to those below it, down to those who
// have one of their own to share, below whom nothing is another.
func (x *Index) spread(tenant, class string, changed changes) {
	seen := set{tenant: {}}
	queue := []string{tenant}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		x.resolve(at, class, changed)
		for child := range x.tree.children[at] {
			if _, again := seen[child]; again || x.offers[child][class].shared > 0 {
				continue
			}
			seen[child] = struct{}{}
			queue = append(queue, child)
		}
	}
}

// resolve looks again at who provides a class to a tenant.
func (x *Index) resolve(tenant, class string, changed changes) {
	provider := ""
	for i, above := range x.chain(tenant) {
		of := x.offers[above][class]
		if of.shared > 0 || i == 0 && of.all > 0 {
			provider = above
			break
		}
	}
	provided := x.resolved[tenant]
	if provided[class] == provider {
		return
	}
	changed[tenant] = struct{}{}
	if provider == "" {
		delete(provided, class)
	} else {
		provided[class] = provider
	}
}

// chain is a tenant and those above it, the nearest first. Where labels lead in a ring it ends
// before it comes to a tenant again.
func (x *Index) chain(tenant string) []string {
	var chain []string
	for at := tenant; at != "" && !slices.Contains(chain, at); at = x.tree.parents[at] {
		chain = append(chain, at)
	}
	return chain
}
