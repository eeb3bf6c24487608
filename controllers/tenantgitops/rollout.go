package tenantgitops

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/rollout"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// controllers lists the state of every tenant's controller.
func (p *pass) controllers(ctx context.Context, digest string) ([]rollout.Controller, error) {
	var deployments appsv1.DeploymentList
	if err := p.Client.List(ctx, &deployments, client.InNamespace(p.Config.Stamp.ControllersNamespace), client.HasLabels{stamp.TenantLabel}); err != nil {
		return nil, fmt.Errorf("cannot list the tenants' controllers: %w", err)
	}
	var controllers []rollout.Controller
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		if !deployment.DeletionTimestamp.IsZero() {
			continue
		}
		controllers = append(controllers, rollout.Controller{
			Tenant:  deployment.Labels[stamp.TenantLabel],
			Current: deployment.Annotations[stamp.ControllerConfigAnnotation] == digest,
			Ready:   controllerReady(deployment),
		})
	}
	return controllers, nil
}

// reportHalt says, where an admin looks and no tenant can, which controllers
// hold up the roll-out, once for each. Those that are current and not ready are the cause;
// those that are not yet current are only waiting themselves.
func (p *pass) reportHalt(ctx context.Context, verdict rollout.Verdict) {
	var deployments appsv1.DeploymentList
	if err := p.Client.List(ctx, &deployments, client.InNamespace(p.Config.Stamp.ControllersNamespace), client.HasLabels{stamp.TenantLabel}); err != nil {
		return
	}
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		tenant := deployment.Labels[stamp.TenantLabel]
		if !slices.Contains(verdict.WaitsFor, tenant) || controllerReady(deployment) {
			continue
		}
		if generation, told := p.halts.Swap(deployment.UID, deployment.Generation); told && generation == deployment.Generation {
			continue
		}
		ctrl.LoggerFrom(ctx).Info("controller update waits", "for", tenant, "deployment", deployment.Name)
		p.Events.Eventf(deployment, nil, corev1.EventTypeWarning, gitopsv1.ReasonRolloutHalted, "Rollout",
			"the controller of tenant %s is not ready with its new configuration: no further controller is updated until it is, or the old configuration is put back", tenant)
	}
}

// controllerName is the tenant's Deployment as namespace/name.
func (p *pass) controllerName() string {
	return p.Config.Stamp.ControllersNamespace + "/" + names.Controller(p.tenant.Namespace)
}
