package pruneguard

import (
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// maxNames bounds how many applications the status names.
const maxNames = 20

// Facts are what a decision is made of.
type Facts struct {
	// Kustomization of the source; nil where it is not there.
	Kustomization *kustomizev1.Kustomization
	// Before is what the status says of the source; nil where it says nothing.
	Before *gitopsv1.SourceStatus
	// Confirm is the source's confirmPrune.
	Confirm string
}

// Decision is what comes of the deletions of a source.
type Decision struct {
	// Grant is what may be deleted; nil for nothing. It is to stand in the
	// Kustomization before Flux is asked.
	Grant *Grant
	// Granted: what the last report names may be deleted, at the next attempt.
	Granted bool
	// Waits is what the deletions wait for, where that is somebody else; Flux is to try
	// again when that has come to an end.
	Waits string
	// Ask: Flux is to try again now.
	Ask bool
	// Blocked: the tenant has to confirm, or to take the change back.
	Blocked bool
	// Spent: the tenant has confirmed the revision, and that was for a prune before.
	Spent bool
	// Incomplete: the report was too long for Flux to store the whole of it.
	Incomplete bool
	// Prune is what the revision would delete, from the first refusal until it is
	// applied.
	Prune *gitopsv1.PruneStatus
	// Confirmed is the value of confirmPrune that has done its work.
	Confirmed string
}

// Decide looks at the last report of Flux. It changes its mind only by such a report:
// while Flux tries, what was decided stands.
func Decide(facts Facts) Decision {
	var d Decision
	k := facts.Kustomization
	if facts.Before != nil && facts.Before.ConfirmedPrune == facts.Confirm {
		d.Confirmed = facts.Confirm
	}
	if k == nil || !k.DeletionTimestamp.IsZero() || !isGuarded(k) {
		return d
	}
	if settled, current := isSettled(k); settled {
		if current && facts.Confirm == k.Status.LastAttemptedRevision {
			d.Confirmed = facts.Confirm
		}
		return d
	}
	if facts.Before != nil {
		d.Prune = facts.Before.Prune
	}
	d.Grant = fittingGrant(k)
	report := lastAttempt(k)
	if report == nil || k.Spec.Suspend {
		return d
	}
	return d.judge(facts, report)
}

// judge decides by a report of refused deletions.
func (d Decision) judge(facts Facts, report *attempt) Decision {
	k := facts.Kustomization
	revision := k.Status.LastAttemptedRevision
	grant := &Grant{Revision: revision, Generation: k.Generation}
	if d.Grant != nil {
		// What this revision was granted before, and has deleted, counts too.
		grant.Applications = d.Grant.Applications
	}
	grant.Applications = union(grant.Applications, report.held)
	pruned := union(grant.Applications, report.failed)
	d.Prune = &gitopsv1.PruneStatus{
		Revision: revision, Applications: int64(len(pruned)), Of: facts.before(report), Names: pruned[:min(len(pruned), maxNames)],
	}
	d.Incomplete = !report.complete
	confirms := facts.Confirm != "" && facts.Confirm == revision
	switch {
	case report.waits != "" && confirms && d.Confirmed == "":
		d.Grant, d.Waits = &Grant{Revision: revision, Generation: k.Generation, Confirmed: true}, report.waits
		return d
	case report.waits != "":
		// How many are to be deleted shows when it is known which of them others take over.
		d.Waits = report.waits
		return d
	case report.complete && (d.Prune.Applications <= Free || 2*d.Prune.Applications <= d.Prune.Of):
		d.Grant, d.Granted = grant, true
	case confirms && d.Confirmed == "":
		d.Grant, d.Granted = &Grant{Revision: revision, Generation: k.Generation, Confirmed: true}, true
	default:
		d.Grant, d.Blocked, d.Spent = nil, true, confirms
	}
	d.Ask = d.Granted && !isAsked(k)
	return d
}

// union returns names and those of applications, each once, in order.
func union(names []string, applications []Application) []string {
	all := slices.Clone(names)
	for _, application := range applications {
		all = append(all, application.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// before is how many applications the source had before the deletions began. A report
// says how many the inventory had; but from the second attempt on those are in it
// that the revision has added, so the least that is known counts.
func (f Facts) before(report *attempt) int64 {
	of := int64(report.of)
	switch {
	case f.Before == nil:
	case f.Before.Prune != nil:
		of = min(of, f.Before.Prune.Of)
	case f.Before.AppliedRevision == f.Kustomization.Status.LastAppliedRevision:
		of = min(of, f.Before.Applications)
	}
	return of
}

// isSettled says whether the last attempt has deleted all that it was to delete, and
// whether it was made with the spec of now.
func isSettled(k *kustomizev1.Kustomization) (settled, current bool) {
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil {
		return false, false
	}
	// Health is looked at after the deletions.
	settled = ready.Status == metav1.ConditionTrue || ready.Reason == meta.HealthCheckFailedReason || ready.Reason == meta.HealthCheckCanceledReason
	return settled, ready.ObservedGeneration >= k.Generation
}

// isAsked says whether Flux has been asked already and has not answered yet.
func isAsked(k *kustomizev1.Kustomization) bool {
	asked, ok := meta.ReconcileAnnotationValue(k.GetAnnotations())
	return ok && asked != k.Status.LastHandledReconcileAt
}
