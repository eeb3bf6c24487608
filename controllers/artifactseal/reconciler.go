// Package artifactseal keeps the artifacts of the platform's Flux sealed, as package
// seal computes it, for as long as there is a TenantGitOps; and tells an admin on the
// object GitOpsParameters what is sealed and what is not.
package artifactseal

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/seal"
)

// Config says where to look.
type Config struct {
	// FluxNamespace is where the platform's Flux runs.
	FluxNamespace string
	// ControllersNamespace is where the tenants' controllers run.
	ControllersNamespace string
	// Interval is how often Cilium is looked at, whose kinds need not be served and so
	// are not watched.
	Interval time.Duration
}

// Reconciler seals the artifacts of Flux.
type Reconciler struct {
	// Client reads watched kinds from the cache.
	Client client.Client
	// Applier writes.
	Applier *apply.Applier
	// Events records events for admins.
	Events events.EventRecorder
	// Config says where to look.
	Config Config
}

// Reconcile makes the policies beside Flux agree with what runs there. There is one
// seal for a cluster, so the request says nothing.
func (r *Reconciler) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	snapshot, err := r.snapshot(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	computed, err := seal.Compute(snapshot)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot compute the seal of the artifacts: %w", err)
	}
	verdict := computed.Verdict
	err = r.write(ctx, computed, snapshot)
	switch {
	case ctx.Err() != nil:
		// That says nothing about the cluster.
		return ctrl.Result{}, err
	case errors.Is(err, apply.ErrNameTaken):
		verdict = seal.Verdict{Reason: gitopsv1.ReasonNameTaken, Message: err.Error()}
	case err != nil:
		verdict = seal.Verdict{Reason: gitopsv1.ReasonStampFailed, Message: err.Error()}
	}
	if err := errors.Join(err, r.report(ctx, verdict)); err != nil || snapshot.Tenants == 0 {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.Config.Interval}, nil
}

func (r *Reconciler) snapshot(ctx context.Context) (seal.Snapshot, error) {
	snapshot := seal.Snapshot{FluxNamespace: r.Config.FluxNamespace, ControllersNamespace: r.Config.ControllersNamespace}
	var tenants gitopsv1.TenantGitOpsList
	err := r.Client.List(ctx, &tenants)
	if err != nil {
		return snapshot, fmt.Errorf("cannot list TenantGitOps: %w", err)
	}
	snapshot.Tenants = len(tenants.Items)
	inFlux := client.InNamespace(r.Config.FluxNamespace)
	var deployments appsv1.DeploymentList
	if err := r.Client.List(ctx, &deployments, inFlux); err != nil {
		return snapshot, fmt.Errorf("cannot list the Deployments of Flux in namespace %s: %w", r.Config.FluxNamespace, err)
	}
	snapshot.Servers, snapshot.Mend = platform.ArtifactServers(r.Config.FluxNamespace, deployments.Items)
	var policies networkingv1.NetworkPolicyList
	if err := r.Client.List(ctx, &policies, inFlux); err != nil {
		return snapshot, fmt.Errorf("cannot list the NetworkPolicies in namespace %s: %w", r.Config.FluxNamespace, err)
	}
	snapshot.Policies = policies.Items
	snapshot.CiliumCRD, err = r.ciliumCRD(ctx)
	return snapshot, err
}

// write applies what has to be there, and deletes what has not.
func (r *Reconciler) write(ctx context.Context, computed seal.Seal, snapshot seal.Snapshot) error {
	wanted := map[string]bool{}
	var errs []error
	for _, obj := range computed.Objects {
		wanted[obj.GetName()] = true
		_, err := r.Applier.Apply(ctx, obj)
		errs = append(errs, err)
	}
	if computed.Keep {
		return errors.Join(errs...)
	}
	for i := range snapshot.Policies {
		if policy := &snapshot.Policies[i]; policy.Labels[seal.Label] == seal.LabelValue && policy.Labels[apply.ManagedByLabel] == apply.FieldManager && !wanted[policy.Name] {
			errs = append(errs, r.Applier.Delete(ctx, policy))
		}
	}
	if snapshot.CiliumCRD != nil {
		errs = append(errs, r.deleteClusterwide(ctx, wanted))
	}
	return errors.Join(errs...)
}
