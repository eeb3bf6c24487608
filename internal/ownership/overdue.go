package ownership

import (
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
)

// maxTimeout bounds what is believed of a Kustomization's own timeout: the default is
// almost its interval, which may be days.
const maxTimeout = time.Hour

// IsOverdue says whether the sibling should have come to an end by now: nothing has moved
// for longer than its own timeout and a grace. It may go on waiting for something that never
// comes (a dependency that fails, a controller that does not run), and nobody would be told.
// Owners is the artifact of the one that deletes.
func (o Objection) IsOverdue(owners *meta.Artifact, now time.Time, grace time.Duration) bool {
	if o.Standing == Failing {
		return false
	}
	return now.Sub(o.moved(owners)) > grace+min(o.Kustomization.GetTimeout(), maxTimeout)
}

// moved is when something about the sibling moved last, or its wait began.
func (o Objection) moved(owners *meta.Artifact) time.Time {
	k := o.Kustomization
	last := k.CreationTimestamp.Time
	see := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	seeArtifact := func(artifact *meta.Artifact) {
		if artifact != nil {
			see(artifact.LastUpdateTime.Time)
		}
	}
	seeAsked := func(value string) {
		// What is no time says nothing.
		if asked, err := time.Parse(time.RFC3339Nano, value); err == nil {
			see(asked)
		}
	}
	if ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition); ready != nil {
		see(ready.LastTransitionTime.Time)
	}
	if asked, ok := meta.ReconcileAnnotationValue(k.Annotations); ok {
		seeAsked(asked)
	}
	if o.Fetched != nil {
		seeAsked(o.Fetched.Requested)
		seeArtifact(o.Fetched.Artifact)
	}
	seeArtifact(owners)
	return last
}
