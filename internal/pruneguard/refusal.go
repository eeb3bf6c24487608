package pruneguard

import (
	"fmt"
	"regexp"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
)

// Refusal is why a git account may not delete an application on behalf of a
// Kustomization, which must be as the API server has it now; empty where it may.
//
// It is short: Flux puts the refusals of all objects into one condition, and cuts that
// off at 32768 bytes.
func Refusal(k *kustomizev1.Kustomization, application Application) string {
	if k == nil || !k.DeletionTimestamp.IsZero() || !isGuarded(k) {
		// What becomes of the applications of a Kustomization that goes is its
		// deletionPolicy's.
		return ""
	}
	// Until all deletions are done the inventory is that of before.
	applied := applications(k)
	if len(applied) <= Free || !applied[application] || fittingGrant(k).covers(application) {
		return ""
	}
	return fmt.Sprintf("held by the prune guard (of %d): goes on by itself or after confirmPrune", len(applied))
}

// Waiting is why a deletion has to wait for somebody else, whatever may be deleted. It
// counts for the guard as well, which reads in it how many applications there were.
func Waiting(k *kustomizev1.Kustomization, what string) string {
	return fmt.Sprintf("held by the prune guard (of %d): waits for %s", len(applications(k)), what)
}

// IsConfirmed says whether the tenant has confirmed whatever the revision deletes.
func IsConfirmed(k *kustomizev1.Kustomization) bool {
	grant := fittingGrant(k)
	return grant != nil && grant.Confirmed
}

// failed finds the objects in Flux's report that were not deleted, and held those of
// them that Refusal refused.
var (
	failed = regexp.MustCompile(`([A-Za-z0-9]+)/([a-z0-9.-]+)/([a-z0-9.-]+) (?:delete|query) failed: `)
	held   = regexp.MustCompile(`([A-Za-z0-9]+)/([a-z0-9.-]+)/([a-z0-9.-]+) delete failed: admission webhook "[a-z0-9.-]+" denied the request: held by the prune guard \(of ([0-9]+)\): (waits for [^;]*)?`)
)
