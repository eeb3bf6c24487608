// Package ownership decides whose an application is, where more than one Kustomization
// could have it. Flux puts the labels of the Kustomization on what it applies, takes over
// whatever it finds, and prunes only what bears its own labels. All sources of a tenant
// act as the same account, so at admission the labels are all that tells them apart.
//
// All that it decides by is stored in the Kustomizations and their sources: the inventory
// and the report of the last attempt.
package ownership

import (
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

const (
	// NameLabel is Flux's label with the name of the Kustomization that has applied an
	// object last.
	NameLabel = "kustomize.toolkit.fluxcd.io/name"
	// NamespaceLabel is the one with its namespace.
	NamespaceLabel = "kustomize.toolkit.fluxcd.io/namespace"
)

// Owner is the Kustomization that labels name, if they name one.
func Owner(labels map[string]string) (key types.NamespacedName, named bool) {
	key = types.NamespacedName{Namespace: labels[NamespaceLabel], Name: labels[NameLabel]}
	return key, key.Namespace != "" && key.Name != ""
}

// IsLive says whether a Kustomization applies: it is there, stays, and is not suspended.
func IsLive(k *kustomizev1.Kustomization) bool {
	return k != nil && k.DeletionTimestamp.IsZero() && !k.Spec.Suspend
}

// Has says whether an application is in the inventory of a Kustomization.
func Has(k *kustomizev1.Kustomization, application pruneguard.Application) bool {
	if k.Status.Inventory == nil {
		return false
	}
	id := strings.Join([]string{application.Namespace, application.Name, stamp.ApplicationsGroup, application.Kind}, "_")
	return slices.ContainsFunc(k.Status.Inventory.Entries, func(entry kustomizev1.ResourceRef) bool { return entry.ID == id })
}

// Holds says whether an application with the labels of a live Kustomization is its: it is
// in the inventory, or the last attempt came to no inventory, so that the labels are all
// that is known.
func Holds(k *kustomizev1.Kustomization, application pruneguard.Application) bool {
	return IsLive(k) && (Has(k, application) || !hasApplied(k))
}

// KeepsFrom says whether a claimant may not take an application over from a Kustomization
// whose labels it has: that one holds it, and does not want to prune it.
//
// Two that are to exchange applications stop at each other's before they come to prune:
// so the first of them by name takes over, and that shows whether the other lets go. It
// is never the other way round, so that nothing goes to and fro.
func KeepsFrom(k *kustomizev1.Kustomization, application pruneguard.Application, claimant types.NamespacedName) bool {
	if !Holds(k, application) || slices.Contains(pruneguard.LetGo(k), application) {
		return false
	}
	return !ClaimsFrom(k, claimant) || claimant.String() > (types.NamespacedName{Namespace: k.Namespace, Name: k.Name}).String()
}

// ClaimsFrom says whether the last attempt of a Kustomization failed by a claim to what
// another one has.
func ClaimsFrom(k *kustomizev1.Kustomization, owner types.NamespacedName) bool {
	return slices.ContainsFunc(Claims(k), func(claim Claim) bool { return claim.Owner == owner })
}
