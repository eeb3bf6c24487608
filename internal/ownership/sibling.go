package ownership

import (
	"fmt"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// Fetched is what is read of the source of a Kustomization.
type Fetched struct {
	Artifact *meta.Artifact
	// CanBeAsked: it fetches when the operator asks it to.
	CanBeAsked bool
	// Requested is when it was asked last, and Handled what it has answered, as Flux
	// notes both.
	Requested, Handled string
}

// Sibling is another Kustomization that could want what one is about to prune.
type Sibling struct {
	Kustomization *kustomizev1.Kustomization
	// Fetched is nil where the source is not there.
	Fetched *Fetched
}

// Standing is how a sibling stands to an application that another wants to prune.
type Standing int

const (
	// Indifferent means that its newest revision does not have the application, or it applies none.
	Indifferent Standing = iota
	// Failing means that it cannot apply its newest revision, so nobody knows. Somebody has to mend
	// or suspend it.
	Failing
	// Pending means that it has still to come to an end with its newest revision.
	Pending
	// Unfetched means that its repository may have news.
	Unfetched
	// Claiming means that it wants the application.
	Claiming
)

// String says it for a report.
func (s Standing) String() string {
	return [...]string{"indifferent", "failing", "pending", "unfetched", "claiming"}[s]
}

// To says how a sibling stands to an application of an owner whose artifact is given.
func (s Sibling) To(application pruneguard.Application, owner *kustomizev1.Kustomization, artifact *meta.Artifact) Standing {
	k := s.Kustomization
	if !IsLive(k) || !MayWant(k, application.Namespace) {
		return Indifferent
	}
	for _, claim := range Claims(k) {
		if claim.Application == application && claim.Owner.Name == owner.Name && claim.Owner.Namespace == owner.Namespace {
			return Claiming
		}
	}
	switch {
	case s.Fetched == nil:
		// There is nothing that it could apply.
		return Indifferent
	case s.Fetched.mayHaveNews(artifact):
		return Unfetched
	case s.Fetched.Artifact == nil:
		// It has been asked, and could not.
		return Failing
	}
	return attempt(k, s.Fetched.Artifact.Revision)
}

// mayHaveNews says whether the source has not been looked at since the owner's artifact
// was fetched. The times of artifacts are in whole seconds.
func (f Fetched) mayHaveNews(owners *meta.Artifact) bool {
	if owners == nil || !f.CanBeAsked || f.Artifact != nil && f.Artifact.Revision == owners.Revision {
		return false
	}
	since := owners.LastUpdateTime.Add(time.Second)
	if f.Artifact != nil && !f.Artifact.LastUpdateTime.Time.Before(since) {
		return false
	}
	asked, err := time.Parse(time.RFC3339Nano, f.Requested)
	return err != nil || asked.Before(since) || f.Handled != f.Requested
}

// attempt says what a Kustomization has come to with a revision, as its spec is now.
func attempt(k *kustomizev1.Kustomization, revision string) Standing {
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.ObservedGeneration < k.Generation || isAsked(k) {
		return Pending
	}
	if ready.Status == metav1.ConditionUnknown {
		if k.Status.LastAppliedRevision == revision && k.Status.ObservedGeneration == k.Generation {
			// It does again, at an interval, what it has done.
			return Indifferent
		}
		return Pending
	}
	switch ready.Reason {
	case meta.DependencyNotReadyReason, meta.HealthCheckCanceledReason:
		return Pending
	case meta.ArtifactFailedReason:
		// Without a source's artifact nothing was attempted; with one, the path is missing,
		// which Flux finds before it notes the revision.
		if strings.HasPrefix(ready.Message, "Source ") {
			return Pending
		}
		return Failing
	}
	switch {
	case k.Status.LastAttemptedRevision != revision:
		return Pending
	case hasApplied(k):
		return Indifferent
	default:
		return Failing
	}
}

// hasApplied says whether the last attempt came as far as the inventory: that follows the
// applying; the pruning and the health checks come after it.
func hasApplied(k *kustomizev1.Kustomization) bool {
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.ObservedGeneration < k.Generation {
		return false
	}
	return ready.Status == metav1.ConditionTrue || ready.Reason == meta.PruneFailedReason || ready.Reason == meta.HealthCheckFailedReason
}

// isAsked says whether Flux has been asked for an attempt and has not ended it.
func isAsked(k *kustomizev1.Kustomization) bool {
	asked, ok := meta.ReconcileAnnotationValue(k.GetAnnotations())
	return ok && asked != k.Status.LastHandledReconcileAt
}

// Objection is the sibling that a deletion waits for.
type Objection struct {
	Standing Standing
	Sibling
}

// String says what is waited for.
func (o Objection) String() string {
	name := o.Kustomization.Namespace + "/" + o.Kustomization.Name
	switch o.Standing {
	case Claiming:
		return fmt.Sprintf("Kustomization %s, which has it now, to take it over", name)
	case Failing:
		return fmt.Sprintf("Kustomization %s, which fails and may have it now", name)
	default:
		return fmt.Sprintf("Kustomization %s, which may have it now", name)
	}
}

// Objections are the siblings that a deletion has to wait for, one that claims the
// application first. A tenant's confirmation of the revision goes over all the others.
func Objections(application pruneguard.Application, owner *kustomizev1.Kustomization, artifact *meta.Artifact, siblings []Sibling) []Objection {
	if !IsLive(owner) {
		return nil
	}
	var objections []Objection
	for _, sibling := range siblings {
		standing := sibling.To(application, owner, artifact)
		if standing == Indifferent || standing != Claiming && pruneguard.IsConfirmed(owner) {
			continue
		}
		objection := Objection{Standing: standing, Sibling: sibling}
		if standing == Claiming {
			objections = append([]Objection{objection}, objections...)
		} else {
			objections = append(objections, objection)
		}
	}
	return objections
}
