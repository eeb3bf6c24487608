package ownership

import (
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
)

// MayWant says whether a Kustomization could apply something in a namespace; whether its
// account may write there is another question.
func MayWant(k *kustomizev1.Kustomization, namespace string) bool {
	return k.Spec.TargetNamespace == "" || k.Spec.TargetNamespace == namespace
}

// Wanting are those of one tenant's Kustomizations that apply and may want something in a
// namespace. All of that tenant's are given, since they share an account.
//
// One without a target, written by hand, may want whatever its manifests name; but a
// tenant's account is bound in the namespace of a tenant below only while a source targets
// that. Otherwise one broken Kustomization of a tenant far above would hold the deletions
// of all below.
func Wanting(kustomizations []kustomizev1.Kustomization, namespace string) []*kustomizev1.Kustomization {
	isBound := slices.ContainsFunc(kustomizations, func(k kustomizev1.Kustomization) bool {
		return k.Spec.TargetNamespace == namespace
	})
	var wanting []*kustomizev1.Kustomization
	for i := range kustomizations {
		k := &kustomizations[i]
		if !IsLive(k) || !MayWant(k, namespace) {
			continue
		}
		if isBound || k.Namespace == namespace || hasIn(k, namespace) {
			wanting = append(wanting, k)
		}
	}
	return wanting
}

// hasIn says whether a Kustomization has applied something in a namespace: it could still
// be bound there when the last source that targets it has gone.
func hasIn(k *kustomizev1.Kustomization, namespace string) bool {
	return k.Status.Inventory != nil && slices.ContainsFunc(k.Status.Inventory.Entries, func(entry kustomizev1.ResourceRef) bool {
		return strings.HasPrefix(entry.ID, namespace+"_")
	})
}
