package pruneguard

import (
	"slices"
	"strconv"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
)

// attempt is what Flux reports of deletions that failed. Report, inventory and
// revision are written in one patch, so they are about the same attempt.
type attempt struct {
	// held are the applications that the guard refused to delete.
	held []Application
	// failed are all applications that were not deleted, held or otherwise.
	failed []Application
	// of is how many applications the inventory had while they were deleted.
	of int
	// waits is what the first of them waits for that waits for somebody else.
	waits string
	// complete: the report names every object that was not deleted.
	complete bool
}

// lastAttempt reads the report of a Kustomization that failed to prune, as its spec is
// now; nil where there is none in which the guard had a part.
func lastAttempt(k *kustomizev1.Kustomization) *attempt {
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Reason != meta.PruneFailedReason || ready.ObservedGeneration < k.Generation {
		return nil
	}
	applied := applications(k)
	// Flux ends every error with a semicolon, and a report that it cuts off with dots.
	a := &attempt{complete: strings.HasSuffix(ready.Message, ";")}
	for _, match := range failed.FindAllStringSubmatch(ready.Message, -1) {
		if application := (Application{Kind: match[1], Namespace: match[2], Name: match[3]}); applied[application] {
			a.failed = append(a.failed, application)
		}
	}
	for _, match := range held.FindAllStringSubmatch(ready.Message, -1) {
		application := Application{Kind: match[1], Namespace: match[2], Name: match[3]}
		// Digits only, by the pattern; what does not fit into an int bounds nothing.
		if of, err := strconv.Atoi(match[4]); err == nil && (a.of == 0 || of < a.of) {
			a.of = of
		}
		if match[5] != "" && a.waits == "" {
			a.waits = match[5]
		}
		if !applied[application] {
			a.complete = false
		}
		a.held = append(a.held, application)
	}
	if len(a.held) == 0 {
		return nil
	}
	return a
}

// LetGo are the applications that the last attempt of a Kustomization failed to prune:
// its newest revision does not have them.
func LetGo(k *kustomizev1.Kustomization) []Application {
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Reason != meta.PruneFailedReason || ready.ObservedGeneration < k.Generation {
		return nil
	}
	applied := applications(k)
	var letGo []Application
	for _, match := range failed.FindAllStringSubmatch(ready.Message, -1) {
		if application := (Application{Kind: match[1], Namespace: match[2], Name: match[3]}); applied[application] {
			letGo = append(letGo, application)
		}
	}
	return letGo
}

// Waits are those of LetGo whose deletion was held for somebody else.
func Waits(k *kustomizev1.Kustomization) []Application {
	letGo := LetGo(k)
	if letGo == nil {
		return nil
	}
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	var waits []Application
	for _, match := range held.FindAllStringSubmatch(ready.Message, -1) {
		application := Application{Kind: match[1], Namespace: match[2], Name: match[3]}
		if match[5] != "" && slices.Contains(letGo, application) {
			waits = append(waits, application)
		}
	}
	return waits
}
