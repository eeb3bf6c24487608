// Package resolve finds for every tenant, and every class of what applications offer, the tenant
// whose instance it uses: its own, or that of the nearest tenant above it which shares one. It is
// pure; a tenant is a name and those that its labels call its ancestors.
package resolve

// Tenant is what is read of a tenant's namespace.
type Tenant struct {
	Name string
	// Ancestors are the tenants that contain it, by its labels, in any order; tenancy.Model.From
	// lists them. The tenant itself may be among them. Those of tenant-root are not heeded:
	// nothing is above it.
	Ancestors []string
}

// Instance is an application that is installed, by its release.
type Instance struct {
	// Tenant is the namespace, and Name that of the release.
	Tenant, Name string
	// Kind of the application.
	Kind string
	// Live: the release is neither being deleted nor suspended. One that is not ready is live: a
	// failed upgrade must not lead all tenants below elsewhere.
	Live bool
}

// Definition is what the applications of a kind offer.
type Definition struct {
	// Provides are the classes.
	Provides []string
	// Shares says whether tenants below use it too.
	Shares bool
}

// Provided are the tenants whose instances a tenant uses, by class. A class that nobody provides
// is not in it.
type Provided map[string]string

// Providers resolves all tenants at once. Definitions are by kind.
func Providers(tenants []Tenant, instances []Instance, definitions map[string]Definition) map[string]Provided {
	x := NewIndex()
	for kind, definition := range definitions {
		x.SetDefinition(kind, definition)
	}
	for _, instance := range instances {
		x.SetInstance(instance)
	}
	for _, tenant := range tenants {
		x.SetTenant(tenant)
	}
	resolved := make(map[string]Provided, len(tenants))
	for _, tenant := range tenants {
		resolved[tenant.Name] = x.Provided(tenant.Name)
	}
	return resolved
}
