package resolve

import (
	"maps"

	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// set is one of names.
type set map[string]struct{}

// tree is who is above whom. Each tenant has one parent at most, so that what is to be done after
// a change follows the edges; the labels may be damaged, and may even lead in a ring.
type tree struct {
	ancestors map[string]set
	// names leads from a name to the tenants whose labels have it.
	names    map[string]set
	parents  map[string]string
	children map[string]set
}

func newTree() tree {
	return tree{ancestors: map[string]set{}, names: map[string]set{}, parents: map[string]string{}, children: map[string]set{}}
}

func (t *tree) has(tenant string) bool {
	_, there := t.ancestors[tenant]
	return there
}

// put adds a tenant or gives it other ancestors, and returns whose parent may be another one: its
// own, and that of those who name it.
func (t *tree) put(tenant string, ancestors []string) set {
	named := set{}
	for _, ancestor := range ancestors {
		if ancestor != tenant && tenant != tenancy.Root {
			named[ancestor] = struct{}{}
		}
	}
	before, existed := t.ancestors[tenant]
	if existed && maps.Equal(before, named) {
		return nil
	}
	t.unname(tenant)
	t.ancestors[tenant] = named
	for name := range named {
		add(t.names, name, tenant)
	}
	concerned := set{tenant: {}}
	// Nobody is nearer or farther than before to a tenant of as many ancestors.
	if !existed || len(before) != len(named) {
		maps.Copy(concerned, t.below(tenant))
	}
	return concerned
}

// remove takes a tenant out, and returns whose parent may be another one.
func (t *tree) remove(tenant string) set {
	if !t.has(tenant) {
		return nil
	}
	concerned := t.below(tenant)
	t.unname(tenant)
	delete(t.ancestors, tenant)
	t.setParent(tenant, "")
	return concerned
}

// below are those who name a tenant; of the root all that have no other parent.
func (t *tree) below(tenant string) set {
	below := maps.Clone(t.names[tenant])
	if below == nil {
		below = set{}
	}
	if tenant == tenancy.Root {
		for other := range t.ancestors {
			if parent := t.parents[other]; other != tenancy.Root && (parent == "" || parent == tenancy.Root) {
				below[other] = struct{}{}
			}
		}
	}
	return below
}

func (t *tree) unname(tenant string) {
	for name := range t.ancestors[tenant] {
		drop(t.names, name, tenant)
	}
}

// nearest is the tenant's parent: of the tenants that its labels name, the one with the most
// ancestors of its own, which is the nearest wherever labels are sound; without any, the root.
func (t *tree) nearest(tenant string) string {
	nearest := ""
	for name := range t.ancestors[tenant] {
		of, there := t.ancestors[name]
		if !there {
			continue
		}
		if best := t.ancestors[nearest]; nearest == "" || len(of) > len(best) || len(of) == len(best) && name < nearest {
			nearest = name
		}
	}
	if nearest == "" && tenant != tenancy.Root && t.has(tenancy.Root) {
		return tenancy.Root
	}
	return nearest
}

func (t *tree) setParent(tenant, parent string) {
	if before := t.parents[tenant]; before != "" {
		drop(t.children, before, tenant)
	}
	if parent == "" {
		delete(t.parents, tenant)
		return
	}
	t.parents[tenant] = parent
	add(t.children, parent, tenant)
}

func add(sets map[string]set, key, name string) {
	if sets[key] == nil {
		sets[key] = set{}
	}
	sets[key][name] = struct{}{}
}

func drop(sets map[string]set, key, name string) {
	delete(sets[key], name)
	if len(sets[key]) == 0 {
		delete(sets, key)
	}
}
