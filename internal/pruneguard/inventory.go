// Package pruneguard decides what a revision may delete. Flux deletes objects one
// by one, and nothing but its own report says how many there were to be. So the guard
// has two halves, and all that they know of each other is stored in the Kustomization:
// admission refuses the deletions that nothing grants (Refusal), and the reconciler reads
// in Flux's report how many were refused, and grants them or asks the tenant (Decide).
package pruneguard

import (
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// Free is how many applications a revision may always delete.
const Free = 2

// Application is one application of an inventory.
type Application struct {
	Namespace string
	Name      string
	Kind      string
}

// String is how Flux calls an object in its reports.
func (a Application) String() string { return a.Kind + "/" + a.Namespace + "/" + a.Name }

// applications are those in the stored inventory of a Kustomization.
func applications(k *kustomizev1.Kustomization) map[Application]bool {
	found := map[Application]bool{}
	if k.Status.Inventory == nil {
		return found
	}
	for _, entry := range k.Status.Inventory.Entries {
		// <namespace>_<name>_<group>_<kind>; none of them can hold an underscore.
		parts := strings.Split(entry.ID, "_")
		if len(parts) == 4 && parts[2] == stamp.ApplicationsGroup {
			found[Application{Namespace: parts[0], Name: parts[1], Kind: parts[3]}] = true
		}
	}
	return found
}

// isGuarded says whether a Kustomization was stamped for a source. One that a tenant
// wrote by hand has no spec in which a revision could be confirmed.
func isGuarded(k *kustomizev1.Kustomization) bool {
	return k.Labels[stamp.ManagedByLabel] == stamp.ManagedBy &&
		k.Labels[stamp.TenantLabel] == k.Namespace && k.Labels[stamp.SourceLabel] != ""
}
