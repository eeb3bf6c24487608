package tenantgitops

import (
	"context"
	"slices"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/healthcheck"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// readHealth finds out how the applications of each source fare. Targets are the
// namespaces of tenants below that have been looked at: an inventory is written by the
// tenant's controller, and could name the applications of another tenant, whose releases
// are nothing for this one to read.
func (p *pass) readHealth(ctx context.Context, targets []string) error {
	namespaces := append([]string{p.tenant.Namespace}, targets...)
	releases, err := p.releases.In(ctx, namespaces...)
	if err != nil {
		return err
	}
	p.health, p.removalOff = map[string]helmrelease.Health{}, map[string][]string{}
	for _, source := range p.tenant.Spec.Sources {
		if k := p.live.kustomizations[names.FluxObject(source.Name)]; k != nil && isStamped(k) {
			applications := pruneguard.Applications(k)
			p.health[source.Name] = helmrelease.HealthOf(applications, releases, p.tenant.Namespace)
			p.removalOff[source.Name] = removalOff(applications, releases, p.tenant.Namespace)
		}
	}
	return nil
}

// withHealth puts the health of its applications into what is said of a source. A release
// that has failed makes a source that is applied, or is being applied, a failed one. What
// went wrong before that is told first, as long as it stands: nothing of the new revision
// has reached the applications then.
func withHealth(status gitopsv1.SourceStatus, health helmrelease.Health) gitopsv1.SourceStatus {
	status.Unready = health.Unready
	unhealthy := status.Ready == metav1.ConditionFalse && status.Reason == meta.HealthCheckFailedReason
	switch {
	case status.Reason == gitopsv1.ReasonSuspended:
	case health.Failed != "" && (unhealthy || status.Ready == metav1.ConditionTrue || status.Ready == metav1.ConditionUnknown &&
		slices.Contains([]string{gitopsv1.ReasonProgressing, meta.DependencyNotReadyReason}, status.Reason)):
		status.Ready, status.Reason, status.Message = metav1.ConditionFalse, gitopsv1.ReasonApplicationFailed, health.Failed
	case unhealthy:
		status.Message = healthcheck.Readable(status.Message)
		if health.Waiting != "" {
			status.Message += "; " + health.Waiting
		}
	}
	return status
}
