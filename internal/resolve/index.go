package resolve

import (
	"maps"
	"slices"
)

// Index keeps what is resolved, and follows one change after the other: each costs work in
// proportion to the tenants that it may concern, and not to all there are. It is not for several
// goroutines at once.
type Index struct {
	tree        tree
	definitions map[string]Definition
	instances   map[instanceKey]Instance
	// ofKind are the instances of a kind of application.
	ofKind map[string]map[instanceKey]struct{}
	// offers are, by tenant and class, the live instances that provide it there.
	offers map[string]map[string]offer
	// resolved are the providers of each tenant.
	resolved map[string]Provided
}

type instanceKey struct{ tenant, name string }

// NewIndex returns an empty index.
func NewIndex() *Index {
	return &Index{
		tree: newTree(), definitions: map[string]Definition{}, instances: map[instanceKey]Instance{},
		ofKind: map[string]map[instanceKey]struct{}{}, offers: map[string]map[string]offer{}, resolved: map[string]Provided{},
	}
}

// Provided returns what a tenant uses, and of whom; nil for one that is not there.
func (x *Index) Provided(tenant string) Provided {
	if !x.tree.has(tenant) {
		return nil
	}
	return maps.Clone(x.resolved[tenant])
}

// SetTenant adds a tenant, or gives it other ancestors. It returns the tenants, sorted, that use
// something else than before.
func (x *Index) SetTenant(tenant Tenant) []string {
	isNew := !x.tree.has(tenant.Name)
	changed := changes{}
	if isNew {
		x.resolved[tenant.Name] = Provided{}
	}
	x.adopt(x.tree.put(tenant.Name, tenant.Ancestors), changed)
	if isNew {
		x.settle(tenant.Name, changed)
	}
	return changed.sorted()
}

// DeleteTenant takes a tenant out. Its instances stay known, and count if it comes back. It
// returns the other tenants, sorted, that use something else than before.
func (x *Index) DeleteTenant(tenant string) []string {
	concerned := x.tree.remove(tenant)
	delete(x.resolved, tenant)
	changed := changes{}
	x.adopt(concerned, changed)
	return changed.sorted()
}

// SetInstance adds an instance, or takes another state of it. It returns the tenants, sorted,
// that use something else than before.
func (x *Index) SetInstance(instance Instance) []string {
	key := instanceKey{instance.Tenant, instance.Name}
	if x.instances[key] == instance {
		return nil
	}
	return x.change(func() {
		x.forget(key)
		x.instances[key] = instance
		if x.ofKind[instance.Kind] == nil {
			x.ofKind[instance.Kind] = map[instanceKey]struct{}{}
		}
		x.ofKind[instance.Kind][key] = struct{}{}
	}, key)
}

// DeleteInstance takes an instance out, and returns as SetInstance does.
func (x *Index) DeleteInstance(tenant, name string) []string {
	key := instanceKey{tenant, name}
	if _, there := x.instances[key]; !there {
		return nil
	}
	return x.change(func() { x.forget(key) }, key)
}

// SetDefinition says what the applications of a kind offer; nothing, with the zero Definition. It
// returns the tenants, sorted, that use something else than before.
func (x *Index) SetDefinition(kind string, definition Definition) []string {
	before := x.definitions[kind]
	if before.Shares == definition.Shares && slices.Equal(before.Provides, definition.Provides) {
		return nil
	}
	definition.Provides = slices.Clone(definition.Provides)
	return x.change(func() { x.definitions[kind] = definition }, slices.Collect(maps.Keys(x.ofKind[kind]))...)
}

// forget takes an instance out of all but the offers.
func (x *Index) forget(key instanceKey) {
	kind := x.instances[key].Kind
	delete(x.ofKind[kind], key)
	if len(x.ofKind[kind]) == 0 {
		delete(x.ofKind, kind)
	}
	delete(x.instances, key)
}
