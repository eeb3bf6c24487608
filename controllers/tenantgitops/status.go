package tenantgitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/readiness"
)

// report fills the status in, and records an event for each change of state.
func (p *pass) report(_ context.Context, out outcome, err error) {
	before := p.tenant.Status.DeepCopy()
	status := &p.tenant.Status
	p.said = map[string]gitopsv1.SourceStatus{}
	if before.ObservedGeneration == p.tenant.Generation {
		for _, source := range before.Sources {
			p.said[source.Name] = source
		}
	}
	status.ObservedGeneration = p.tenant.Generation
	if err == nil {
		// Whoever asked is answered, also where nothing can be done.
		status.LastHandledReconcileAt = p.requested()
	}
	status.Shard = names.Shard(p.tenant.Namespace)
	if p.live != nil {
		status.Controller = controllerStatus(p.live.deployment, p.live.pods)
		if p.problems != nil {
			p.reportSources(status)
		}
	}
	v := p.verdict(out, err)
	p.setConditions(v)
	p.recordEvents(before, v)
}

// reportSources fills in what is said of each source, and the sums.
func (p *pass) reportSources(status *gitopsv1.TenantGitOpsStatus) {
	wanted := sourceNames(p.tenant)
	var sources []gitopsv1.SourceStatus
	for _, source := range p.tenant.Spec.Sources {
		sources = append(sources, sourceStatus(sourceInput{
			source:        source,
			problem:       p.problems[source.Name],
			suspended:     p.tenant.Spec.Suspend || source.Suspend,
			fetched:       p.live.fetched(source),
			kustomization: p.live.kustomizations[names.FluxObject(source.Name)],
			controller:    status.Controller,
			deployKey:     p.deployKeys[source.Name],
			prune:         p.prunes[source.Name],
			owned:         p.owned[names.FluxObject(source.Name)],
			health:        p.health[source.Name],
			removalOff:    p.removalOff[source.Name],
			before:        p.said[source.Name],
		}))
	}
	for _, name := range sortedKeys(p.live.kustomizations) {
		if k := p.live.kustomizations[name]; isStamped(k) && !wanted[name] {
			sources = append(sources, removedSourceStatus(k))
		}
	}
	status.Sources = sources
	status.Unmanaged, status.UnmanagedCount = p.live.unmanaged(p.bound, status.Unmanaged)
	status.Applications = 0
	for _, source := range sources {
		status.Applications += source.Applications
	}
	status.AppliedRevision = summarizeRevisions(sources)
	status.Decryption = nil
	if p.ageRecipient != "" {
		status.Decryption = &gitopsv1.DecryptionStatus{AgeRecipient: p.ageRecipient}
	}
}

// shortDigest is how many characters of a commit are shown in a line.
const shortDigest = 12

// summarizeRevisions says in one line which commits are applied.
func summarizeRevisions(sources []gitopsv1.SourceStatus) string {
	var parts []string
	revisions := map[string]bool{}
	for _, source := range sources {
		if source.AppliedRevision == "" {
			continue
		}
		revision := shortRevision(source.AppliedRevision)
		revisions[revision] = true
		parts = append(parts, source.Name+"="+revision)
	}
	if len(revisions) == 1 {
		for revision := range revisions {
			return revision
		}
	}
	return strings.Join(parts, " ")
}

// shortRevision shortens the digest of main@sha1:0123456789abcdef….
func shortRevision(revision string) string {
	at := strings.LastIndex(revision, ":")
	if at < 0 || len(revision)-at-1 <= shortDigest {
		return revision
	}
	return revision[:at+1+shortDigest]
}

// verdict is the state of a TenantGitOps as a whole.
type verdict struct {
	ready   metav1.ConditionStatus
	reason  string
	message string
	stalled bool
}

func (p *pass) verdict(out outcome, err error) verdict {
	switch {
	case errors.Is(err, apply.ErrNameTaken):
		return verdict{ready: metav1.ConditionFalse, reason: gitopsv1.ReasonNameTaken, message: truncate(err.Error())}
	case err != nil:
		return verdict{ready: metav1.ConditionFalse, reason: gitopsv1.ReasonStampFailed, message: truncate(err.Error())}
	case out.stop != nil:
		ready := metav1.ConditionFalse
		if out.stop.reason == gitopsv1.ReasonTerminating {
			ready = metav1.ConditionUnknown
		}
		return verdict{ready: ready, reason: out.stop.reason, message: truncate(out.stop.message), stalled: out.stop.stalled}
	}
	return tenantVerdict(p.tenant.Spec.Suspend, p.tenant.Status.Sources, p.tenant.Status.Controller, p.stalledSources())
}

func (p *pass) stalledSources() bool {
	for _, problem := range p.problems {
		if problem.stalled {
			return true
		}
	}
	return false
}

// tenantVerdict sums the sources up: one that failed outweighs one that is on
// its way, and that one those which are done. What the tenant's controller has said of a
// source is old news where it does not run any more: then that is what is to be mended.
func tenantVerdict(suspended bool, sources []gitopsv1.SourceStatus, controller *gitopsv1.ControllerStatus, stalled bool) verdict {
	if suspended {
		return verdict{ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSuspended, message: "reconciliation is suspended; what was applied stays as it is"}
	}
	var failed, pending []gitopsv1.SourceStatus
	applied, paused := 0, 0
	for _, source := range sources {
		switch {
		case source.Reason == gitopsv1.ReasonSuspended:
			paused++
		case source.Ready == metav1.ConditionFalse:
			failed = append(failed, source)
		case source.Ready == metav1.ConditionTrue:
			applied++
		default:
			pending = append(pending, source)
		}
	}
	describe := func(list []gitopsv1.SourceStatus) string {
		text := fmt.Sprintf("source %s: %s", list[0].Name, list[0].Message)
		if len(list) > 1 {
			text += fmt.Sprintf(" (and %d more)", len(list)-1)
		}
		return truncate(text)
	}
	stopped := controller != nil && !controller.Ready && controller.LastTermination != ""
	saidByController := func(source gitopsv1.SourceStatus) bool { return isApplyFailure(source.Reason) }
	switch {
	case len(failed) > 0 && stopped && !slices.ContainsFunc(failed, func(s gitopsv1.SourceStatus) bool { return !saidByController(s) }):
		return verdict{
			ready: metav1.ConditionFalse, reason: gitopsv1.ReasonControllerNotReady,
			message: truncate("the tenant's controller does not run: " + controller.LastTermination + "; before that, " + describe(failed)),
		}
	case len(failed) > 0:
		reason := gitopsv1.ReasonSourceFailed
		if len(failed) == 1 && len(sources) == 1 && failed[0].Reason != "" {
			reason = failed[0].Reason
		}
		return verdict{ready: metav1.ConditionFalse, reason: reason, message: describe(failed), stalled: stalled}
	case controller != nil && !controller.Ready:
		message := "the tenant's controller does not run yet"
		ready := metav1.ConditionUnknown
		if controller.LastTermination != "" {
			message, ready = "the tenant's controller does not run: "+controller.LastTermination, metav1.ConditionFalse
		}
		return verdict{ready: ready, reason: gitopsv1.ReasonControllerNotReady, message: message}
	case len(pending) > 0:
		return verdict{ready: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, message: describe(pending)}
	}
	message := fmt.Sprintf("%d of %d sources applied", applied, len(sources))
	if paused > 0 {
		message += fmt.Sprintf(", %d suspended", paused)
	}
	return verdict{ready: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, message: message}
}

func (p *pass) setConditions(v verdict) {
	readiness.Set(&p.tenant.Status.Conditions, p.tenant.Generation, readiness.Verdict{
		Ready: v.ready, Reason: v.reason, Message: v.message, Stalled: v.stalled,
	})
	p.setRemovalTracked()
}

// recordEvents records an event for each source whose state is another than before,
// and one for the whole where no source's says it already.
func (p *pass) recordEvents(before *gitopsv1.TenantGitOpsStatus, v verdict) {
	if p.terminating {
		return
	}
	told := false
	for _, source := range p.tenant.Status.Sources {
		at := slices.IndexFunc(before.Sources, func(s gitopsv1.SourceStatus) bool { return s.Name == source.Name })
		var was gitopsv1.SourceStatus
		if at >= 0 {
			was = before.Sources[at]
		}
		told = p.recordSourceEvent(was, source) || told
	}
	sources := p.tenant.Status.Sources
	if told && (v.reason == gitopsv1.ReasonSucceeded || v.reason == gitopsv1.ReasonSourceFailed || len(sources) == 1 && v.reason == sources[0].Reason) {
		return
	}
	was := apimeta.FindStatusCondition(before.Conditions, meta.ReadyCondition)
	if was != nil && was.Status == v.ready && was.Reason == v.reason {
		return
	}
	if v.ready == metav1.ConditionUnknown && v.reason != gitopsv1.ReasonTerminating {
		// On the way is no state to be told of.
		return
	}
	kind := corev1.EventTypeNormal
	if v.ready == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	p.Events.Eventf(p.tenant, nil, kind, v.reason, "Reconcile", "%s", eventText(v.message))
}

// recordSourceEvent records an event if the state of a source is another than before.
func (p *pass) recordSourceEvent(was, source gitopsv1.SourceStatus) bool {
	kind := corev1.EventTypeNormal
	var note string
	switch {
	case source.Reason == gitopsv1.ReasonSuspended:
		if was.Reason == source.Reason || p.tenant.Spec.Suspend {
			return false
		}
		note = "suspended"
	case source.Ready == metav1.ConditionFalse && (was.Ready != source.Ready || was.Reason != source.Reason):
		kind, note = corev1.EventTypeWarning, source.Message
	case source.Ready == metav1.ConditionTrue && (was.Ready != source.Ready || was.AppliedRevision != source.AppliedRevision):
		note = fmt.Sprintf("applied %s, %d applications", source.AppliedRevision, source.Applications)
	default:
		return false
	}
	// Two events of one reason on one object count as the same, whatever they say; what
	// they relate to tells those of two sources apart.
	related := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: p.tenant.Namespace, Name: names.FluxObject(source.Name)}}
	p.Events.Eventf(p.tenant, related, kind, source.Reason, "Reconcile", "%s", eventText(fmt.Sprintf("source %s: %s", source.Name, note)))
	return true
}

// maxEvent is the API's bound of an event's note, in bytes.
const maxEvent = 1024

func eventText(message string) string {
	if len(message) <= maxEvent {
		return message
	}
	return strings.ToValidUTF8(message[:maxEvent-8], "") + "…"
}
