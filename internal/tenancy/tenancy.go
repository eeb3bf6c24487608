// Package tenancy says which namespaces are tenants and which tenant lies below
// which. It knows nothing of the API server: a namespace is its name and labels.
package tenancy

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

const (
	// AncestorLabelPrefix begins the labels that the platform puts on a tenant's
	// namespace, one for each ancestor and one for itself:
	// tenant.cozystack.io/<namespace>="".
	AncestorLabelPrefix = "tenant.cozystack.io/"
	// Root is the namespace at the top of the tree. It carries no ancestor
	// labels, and is a tenant all the same.
	Root = "tenant-root"
	// namePrefix begins the name of every tenant's namespace in Cozystack.
	namePrefix = "tenant-"
)

// Namespace is what the model reads of a namespace.
type Namespace struct {
	Name   string
	Labels map[string]string
}

// Model decides which namespaces are tenants.
type Model struct {
	// Selector selects the tenants' namespaces by label, for a platform that is
	// not Cozystack. Nil: a tenant's namespace is one called tenant-*.
	Selector labels.Selector
}

// IsTenant says whether a namespace is a tenant's.
func (m Model) IsTenant(ns Namespace) bool {
	if m.Selector != nil {
		return m.Selector.Matches(labels.Set(ns.Labels))
	}
	return strings.HasPrefix(ns.Name, namePrefix)
}

// Contains says whether ns is the tenant's own namespace or that of a tenant
// below it. It trusts the ancestor labels, which only the platform can write,
// and no names: tenant-a-b may be called like a child of tenant-a on a platform
// where dashes mean nothing.
func (m Model) Contains(tenant string, ns Namespace) bool {
	if !m.IsTenant(ns) {
		return false
	}
	if ns.Name == tenant {
		return true
	}
	if ns.Name == Root {
		// Whatever labels it may have been given: nothing is above the root.
		return false
	}
	if _, below := ns.Labels[AncestorLabelPrefix+tenant]; below {
		return true
	}
	return false
}

// From lists the namespaces of the tenants that contain ns: its own, and those above.
func (m Model) From(ns Namespace) []string {
	var tenants []string
	if m.Contains(ns.Name, ns) {
		tenants = append(tenants, ns.Name)
	}
	for _, label := range slices.Sorted(maps.Keys(ns.Labels)) {
		if above, found := strings.CutPrefix(label, AncestorLabelPrefix); found && above != ns.Name && m.Contains(above, ns) {
			tenants = append(tenants, above)
		}
	}
	return tenants
}
