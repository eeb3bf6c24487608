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
		stands := stuck[tenant]
		if tenant == p.tenant.Namespace {
			stands = moves
		}
		if !deployment.DeletionTimestamp.IsZero() || stands == leaves || stands == stays && !current {
			continue
		}
		controllers = append(controllers, rollout.Controller{
			Tenant:  tenant,
			Current: current,
			Passed:  hasPassed(deployment, digest),
		})
	}
	return controllers, nil
}

// standing is what a tenant has to do with a roll-out.
type standing int

const (
	// moves: its controller takes its turn.
	moves standing = iota
	// stays: its controller cannot be updated for a reason of its own, and nobody waits
	// until it is.
	stays
	// leaves: nobody looks after its controller any more, whatever it runs.
	leaves
)

// stuckTenants are those that do not just take their turn.
func (p *pass) stuckTenants(ctx context.Context) (map[string]standing, error) {
	var list gitopsv1.TenantGitOpsList
	if err := p.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("cannot list TenantGitOps: %w", err)
	}
	stuck := map[string]standing{}
	for i := range list.Items {
		tenant := list.Items[i].Namespace
		if !list.Items[i].DeletionTimestamp.IsZero() {
			stuck[tenant] = leaves
			continue
		}
		ready := apimeta.FindStatusCondition(list.Items[i].Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			continue
		}
		switch ready.Reason {
		case gitopsv1.ReasonNotATenant:
			stuck[tenant] = leaves
		case gitopsv1.ReasonStampFailed, gitopsv1.ReasonNameTaken:
			stuck[tenant] = stays
		}
	}
	return stuck, nil
}

// hasPassed says whether nobody need wait for a controller: it has been ready with the
// configuration, or never with any.
func hasPassed(deployment *appsv1.Deployment, digest string) bool {
	return rolloutPassed(deployment, digest) || deployment.Annotations[stamp.RolloutPassedAnnotation] == ""
}

// rolloutPassed says whether a controller has been ready with the configuration, or is
// noted to need not become so.
func rolloutPassed(deployment *appsv1.Deployment, digest string) bool {
	if deployment.Annotations[stamp.RolloutPassedAnnotation] == digest {
		return true
	}
	return deployment.Annotations[stamp.ControllerConfigAnnotation] == digest && controllerReady(deployment)
}

// markRollout notes on a Deployment that is about to be stamped with which configuration
// it was ready last, so that what becomes of it later holds nobody up: a tenant can make
// its own controller fail at any time. One that was never ready, with any, says nothing
// about a new one, and carries no note.
func markRollout(stored *appsv1.Deployment, desired client.Object, digest string) {
	if stored == nil {
		return
	}
	before := stored.Annotations[stamp.ControllerConfigAnnotation]
	passed := stored.Annotations[stamp.RolloutPassedAnnotation]
	switch {
	case rolloutPassed(stored, digest):
		passed = digest
	case before == digest:
		// It has to become ready yet.
	case controllerReady(stored):
		passed = before
	case passed == before:
		// It was ready with the configuration that it had and failed later, for a reason of
		// its own.
		passed = digest
	}
	if passed == "" {
		return
	}
	annotations := maps.Clone(desired.GetAnnotations())
	annotations[stamp.RolloutPassedAnnotation] = passed
	desired.SetAnnotations(annotations)
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
	if deployment.Status.ObservedGeneration < deployment.Generation {
		// What it says is about the configuration before.
		return nil
	}
	pods := p.live.pods
	if deployment.Status.UpdatedReplicas == 0 {
		pods = nil
	}
	status := controllerStatus(deployment, pods)
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
