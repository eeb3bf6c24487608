package tenantgitops

import (
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// maxMessage bounds a source's message in the status, in bytes: twenty long ones
// must still fit into an object.
const maxMessage = 4096

func (l *live) fetched(source gitopsv1.Source) *fluxstatus.Fetched {
	name := names.FluxObject(source.Name)
	if source.OCI != nil {
		if repository, ok := l.ociRepositories[name]; ok {
			return &fluxstatus.Fetched{Generation: repository.Generation, Conditions: repository.Status.Conditions, Artifact: repository.Status.Artifact}
		}
		return nil
	}
	if repository, ok := l.gitRepositories[name]; ok {
		return &fluxstatus.Fetched{Generation: repository.Generation, Conditions: repository.Status.Conditions, Artifact: repository.Status.Artifact}
	}
	return nil
}

// sourceInput is all that a source's status is computed from.
type sourceInput struct {
	source        gitopsv1.Source
	problem       problem
	suspended     bool
	fetched       *fluxstatus.Fetched
	kustomization *kustomizev1.Kustomization
	controller    *gitopsv1.ControllerStatus
	deployKey     string
	// prune is what was decided of the source's deletions.
	prune pruneguard.Decision
	// owned is what was found of applications that other sources have too.
	owned owned
	// health is how the source's applications fare.
	health helmrelease.Health
	// removalOff are those that keep what leaves git.
	removalOff []string
	// before is what was said last; empty where the spec has changed since.
	before gitopsv1.SourceStatus
}

// sourceStatus computes the status of a source: the first thing that is wrong
// on the way from the repository to the cluster.
func sourceStatus(in sourceInput) gitopsv1.SourceStatus {
	status := gitopsv1.SourceStatus{
		Name: in.source.Name, DeployKey: in.deployKey, Prune: in.prune.Prune, ConfirmedPrune: in.prune.Confirmed,
		Conflicts: in.owned.conflicts,
	}
	if in.fetched != nil && in.fetched.Artifact != nil {
		status.Revision = in.fetched.Artifact.Revision
		if in.fetched.Artifact.Size != nil {
			status.ArtifactSize = *in.fetched.Artifact.Size
		}
	}
	if k := in.kustomization; k != nil {
		status.AppliedRevision = k.Status.LastAppliedRevision
		status.LastAppliedAt = fluxstatus.FirstApplied(k)
		status.Applications = countApplications(k)
	}
	status.Ready, status.Reason, status.Message = in.verdict()
	if status.Ready == metav1.ConditionUnknown && in.repeats(status.Revision) {
		status.Ready, status.Reason, status.Message = in.before.Ready, in.before.Reason, in.before.Message
	}
	status = withHealth(status, in.health)
	status.RemovalOff = in.removalOff
	status.Message = truncate(status.Message)
	return status
}

// isApplyFailure says whether a source's reason is one with which an attempt to apply ends.
func isApplyFailure(reason string) bool {
	return reason == gitopsv1.ReasonPruneBlocked || slices.Contains(fluxstatus.ApplyFailures, reason)
}

// repeats says whether Flux is only doing again, at an interval, what it has done:
// what that came to stands until it comes to something else.
func (in sourceInput) repeats(revision string) bool {
	if in.kustomization == nil || in.before.Revision != revision {
		return false
	}
	condition := fluxstatus.ReadyCondition(in.kustomization.Status.Conditions, in.kustomization.Generation)
	if condition == nil || !fluxstatus.IsOnTheWay(condition) {
		return false
	}
	switch in.before.Ready {
	case metav1.ConditionTrue:
		return in.before.Reason == gitopsv1.ReasonSucceeded && in.before.AppliedRevision == revision
	case metav1.ConditionFalse:
		return isApplyFailure(in.before.Reason)
	default:
		return false
	}
}

func (in sourceInput) verdict() (metav1.ConditionStatus, string, string) {
	switch {
	case in.problem.reason != "":
		return metav1.ConditionFalse, in.problem.reason, in.problem.message
	case in.suspended:
		ready := metav1.ConditionUnknown
		if in.kustomization != nil {
			if condition := apimeta.FindStatusCondition(in.kustomization.Status.Conditions, meta.ReadyCondition); condition != nil {
				ready = condition.Status
			}
		}
		return ready, gitopsv1.ReasonSuspended, "reconciliation is suspended"
	}
	if status, reason, message, decided := in.fetchVerdict(); decided {
		return status, reason, message
	}
	return in.applyVerdict()
}

func (in sourceInput) fetchVerdict() (metav1.ConditionStatus, string, string, bool) {
	if in.fetched == nil {
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "waiting for the repository to be fetched", true
	}
	condition := in.fetched.Settled()
	switch {
	case condition == nil || condition.Status == metav1.ConditionUnknown:
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "fetching the repository", true
	case condition.Status == metav1.ConditionFalse:
		return metav1.ConditionFalse, condition.Reason, "cannot fetch the repository: " + condition.Message + in.credentialHint(), true
	}
	return "", "", "", false
}

// credentialHint names the Secrets that were used, since the error of a git host
// says no more than "authentication required".
func (in sourceInput) credentialHint() string {
	var used []string
	for _, ref := range references(in.source) {
		if !ref.applied {
			used = append(used, fmt.Sprintf("%q for %s", ref.name, ref.use))
		}
	}
	if len(used) == 0 {
		return ""
	}
	return " (Secret " + strings.Join(used, ", ") + ")"
}

func (in sourceInput) applyVerdict() (metav1.ConditionStatus, string, string) {
	var condition *metav1.Condition
	k := in.kustomization
	if k != nil {
		condition = fluxstatus.ReadyCondition(k.Status.Conditions, k.Generation)
	}
	if condition == nil {
		if in.controller != nil && !in.controller.Ready {
			message := "the tenant's controller does not run yet"
			if in.controller.LastTermination != "" {
				message = "the tenant's controller does not run: " + in.controller.LastTermination
			}
			return metav1.ConditionUnknown, gitopsv1.ReasonControllerNotReady, message
		}
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "waiting for the repository to be applied"
	}
	switch {
	case condition.Reason == meta.DependencyNotReadyReason:
		// The failure, if there is one, is that of the dependency.
		return metav1.ConditionUnknown, condition.Reason, condition.Message
	case len(in.owned.conflicts) > 0:
		return metav1.ConditionFalse, gitopsv1.ReasonConflict, in.owned.message(in.kustomization.Namespace)
	case in.owned.takesOver != "":
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "taking over " + in.owned.takesOver
	case in.prune.Waits != "" && in.owned.holder.name != "":
		return metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked, in.prune.MessageWaiting(in.source.Name, in.owned.holder.name, in.owned.holder.state)
	case in.prune.Waits != "":
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "before it deletes applications, it " + in.prune.Waits
	case in.prune.Granted:
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, in.prune.Message(in.source.Name)
	case in.prune.Blocked:
		return metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked, in.prune.Message(in.source.Name)
	case fluxstatus.IsOnTheWay(condition):
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "applying the repository"
	case condition.Status == metav1.ConditionFalse:
		return metav1.ConditionFalse, condition.Reason, condition.Message
	case in.fetched.Artifact != nil && k.Status.LastAppliedRevision != in.fetched.Artifact.Revision:
		return metav1.ConditionUnknown, gitopsv1.ReasonProgressing, "applying " + in.fetched.Artifact.Revision
	}
	return metav1.ConditionTrue, gitopsv1.ReasonSucceeded, "applied " + k.Status.LastAppliedRevision
}

// countApplications counts the applications in a Kustomization's inventory.
func countApplications(k *kustomizev1.Kustomization) int64 {
	if k.Status.Inventory == nil {
		return 0
	}
	var count int64
	for _, entry := range k.Status.Inventory.Entries {
		// <namespace>_<name>_<group>_<kind>
		if parts := strings.Split(entry.ID, "_"); len(parts) >= 4 && parts[len(parts)-2] == stamp.ApplicationsGroup {
			count++
		}
	}
	return count
}

func truncate(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

// removedSourceStatus describes a source that is no longer in the spec and still
// being taken down.
func removedSourceStatus(k *kustomizev1.Kustomization) gitopsv1.SourceStatus {
	name, _ := names.SourceOf(k.Name)
	return gitopsv1.SourceStatus{
		Name:            name,
		Ready:           metav1.ConditionUnknown,
		Reason:          gitopsv1.ReasonTerminating,
		Message:         "the source has been removed; waiting for " + describeTakeDown(k),
		AppliedRevision: k.Status.LastAppliedRevision,
		Applications:    countApplications(k),
	}
}
