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
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
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
	// DNSNamespace and DNSPodLabels select the pods that answer DNS.
	DNSNamespace string
	DNSPodLabels map[string]string
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
	contained, err := seal.ComputeEgress(snapshot)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("cannot compute what contains source-controller: %w", err)
	}
	var errs []error
	verdicts := map[string]seal.Verdict{}
	for _, part := range []struct {
		condition, label string
		seal.Seal
	}{{ConditionType, seal.LabelValue, computed}, {ContainedConditionType, seal.SourcesLabelValue, contained}} {
		err := r.write(ctx, part.Seal, part.label, snapshot)
		errs = append(errs, err)
		if isPassing(err) {
			// What was said last stands.
			continue
		}
		verdicts[part.condition] = part.Verdict
		switch {
		case errors.Is(err, apply.ErrNameTaken):
			verdicts[part.condition] = seal.Verdict{Reason: gitopsv1.ReasonNameTaken, Message: err.Error()}
		case err != nil:
			verdicts[part.condition] = seal.Verdict{Reason: gitopsv1.ReasonStampFailed, Message: err.Error()}
		}
	}
	if ctx.Err() != nil {
		// That says nothing about the cluster.
		return ctrl.Result{}, errors.Join(errs...)
	}
	if err := errors.Join(append(errs, r.report(ctx, verdicts))...); err != nil || snapshot.Tenants == 0 {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.Config.Interval}, nil
}

// isPassing says whether an error comes from a change that was not seen yet, or from an
// API server that is busy or away.
func isPassing(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err)
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
	if snapshot.Egress, err = r.egress(ctx); err != nil {
		return snapshot, err
	}
	snapshot.CiliumCRD, err = r.ciliumCRD(ctx)
	return snapshot, err
}

// egress reads what an admin asks for, and what source-controller needs.
func (r *Reconciler) egress(ctx context.Context) (seal.Egress, error) {
	egress := seal.Egress{DNSNamespace: r.Config.DNSNamespace, DNSPodLabels: r.Config.DNSPodLabels}
	parameters := &gitopsv1.GitOpsParameters{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); client.IgnoreNotFound(err) != nil {
		return egress, fmt.Errorf("cannot read GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	egress.Mode, egress.AllowedNetworks = parameters.Spec.SourceEgress.Mode, parameters.Spec.SourceEgress.AllowedNetworks
	var slicesOfAPI discoveryv1.EndpointSliceList
	if err := r.Client.List(ctx, &slicesOfAPI, client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{discoveryv1.LabelServiceName: platform.APIServerService}); err != nil {
		return egress, fmt.Errorf("cannot list the endpoints of the API server: %w", err)
	}
	egress.APIServer = platform.APIServerAddresses(slicesOfAPI.Items)
	return egress, nil
}

// write applies what has to be there, and deletes what carries the label and has not.
func (r *Reconciler) write(ctx context.Context, computed seal.Seal, label string, snapshot seal.Snapshot) error {
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
		if policy := &snapshot.Policies[i]; policy.Labels[seal.Label] == label && policy.Labels[apply.ManagedByLabel] == apply.FieldManager && !wanted[policy.Name] {
			errs = append(errs, r.Applier.Delete(ctx, policy))
		}
	}
	if label == seal.LabelValue && snapshot.CiliumCRD != nil {
		errs = append(errs, r.deleteClusterwide(ctx, wanted))
	}
	return errors.Join(errs...)
}
