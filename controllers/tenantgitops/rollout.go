package tenantgitops

import (
	"context"
	"fmt"
	"maps"

	"github.com/fluxcd/pkg/apis/meta"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
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
	stuck, err := p.stuckTenants(ctx)
	if err != nil {
		return nil, err
	}
	var controllers []rollout.Controller
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		tenant := deployment.Labels[stamp.TenantLabel]
		current := deployment.Annotations[stamp.ControllerConfigAnnotation] == digest
		if !deployment.DeletionTimestamp.IsZero() || !current && stuck[tenant] && tenant != p.tenant.Namespace {
			continue
		}
		controllers = append(controllers, rollout.Controller{
			Tenant:  tenant,
			Current: current,
			Passed:  rolloutPassed(deployment, digest),
		})
	}
	return controllers, nil
}

// stuckTenants are those whose controllers cannot be updated for a reason of their
// own, or end with their TenantGitOps; nobody waits for them.
func (p *pass) stuckTenants(ctx context.Context) (map[string]bool, error) {
	var list gitopsv1.TenantGitOpsList
	if err := p.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list TenantGitOps: %w", err)
	}
	stuck := map[string]bool{}
	for i := range list.Items {
		if !list.Items[i].DeletionTimestamp.IsZero() {
			stuck[list.Items[i].Namespace] = true
			continue
		}
		ready := apimeta.FindStatusCondition(list.Items[i].Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			continue
		}
		switch ready.Reason {
		case gitopsv1.ReasonStampFailed, gitopsv1.ReasonNameTaken, gitopsv1.ReasonNotATenant:
			stuck[list.Items[i].Namespace] = true
		}
	}
	return stuck, nil
}

// rolloutPassed says whether a controller has been ready with the configuration,
// or need not become so.
func rolloutPassed(deployment *appsv1.Deployment, digest string) bool {
	if deployment.Annotations[stamp.RolloutPassedAnnotation] == digest {
		return true
	}
	return deployment.Annotations[stamp.ControllerConfigAnnotation] == digest && controllerReady(deployment)
}

// markRollout notes on a Deployment that is about to be stamped whether it has
// passed, so that what becomes of it later holds nobody up: a tenant can make its
// own controller fail at any time.
func markRollout(stored *appsv1.Deployment, desired client.Object, digest string) {
	if stored == nil {
		return
	}
	before := stored.Annotations[stamp.ControllerConfigAnnotation]
	passed := rolloutPassed(stored, digest)
	if before != digest {
		// It is updated now, and has to run again; but one that ran with its old
		// configuration and failed later does so for a reason of its own.
		passed = !controllerReady(stored) && stored.Annotations[stamp.RolloutPassedAnnotation] == before
	}
	if passed {
		annotations := maps.Clone(desired.GetAnnotations())
		annotations[stamp.RolloutPassedAnnotation] = digest
		desired.SetAnnotations(annotations)
	}
}

// reportHalt says, where an admin looks and no tenant can, that this tenant's
// controller has the new configuration, is in trouble with it, and holds up the
// roll-out; once for each state of its Deployment. Its pod or its Deployment tells
// of trouble, so it is told when it is found, and not of one that only starts.
func (p *pass) reportHalt(ctx context.Context, digest string) error {
	deployment := p.live.deployment
	if deployment == nil || deployment.Annotations[stamp.ControllerConfigAnnotation] != digest || rolloutPassed(deployment, digest) {
		return nil
	}
	status := controllerStatus(deployment, p.live.pods)
	if status.LastTermination == "" {
		return nil
	}
	controllers, err := p.controllers(ctx, digest)
	if err != nil {
		return err
	}
	held := rollout.HeldUp(p.tenant.Namespace, controllers, p.Config.RolloutBatch)
	if len(held) == 0 {
		return nil
	}
	if generation, told := p.halts.Swap(deployment.UID, deployment.Generation); told && generation == deployment.Generation {
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("controller holds up the roll-out", "deployment", deployment.Name, "trouble", status.LastTermination, "waiting", len(held))
	p.Events.Eventf(deployment, nil, corev1.EventTypeWarning, gitopsv1.ReasonRolloutHalted, "Rollout",
		"the controller of tenant %s is not ready with its new configuration (%s): %d controllers keep the old one until it is, or until the old configuration is put back", p.tenant.Namespace, status.LastTermination, len(held))
	return nil
}

// controllerName is the tenant's Deployment as namespace/name.
func (p *pass) controllerName() string {
	return p.Config.Stamp.ControllersNamespace + "/" + names.Controller(p.tenant.Namespace)
}
