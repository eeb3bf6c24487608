// Package tenantgitops reconciles TenantGitOps: it stamps out what package stamp
// computes, reports in the status what Flux says, and takes everything down in
// an order in which nothing is left behind.
package tenantgitops

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// Finalizer on a TenantGitOps keeps it until all that it stamped is down.
const Finalizer = "gitops.cozystack.io/tenantgitops"

// Reconciler reconciles TenantGitOps.
type Reconciler struct {
	// Client reads watched kinds from the cache, the others from the API server.
	Client client.Client
	// Uncached reads from the API server, for what must not be missed.
	Uncached client.Reader
	// Applier writes.
	Applier *apply.Applier
	// Events records events for tenants.
	Events events.EventRecorder
	// Config of the tenant tier.
	Config Config

	platform *platformReader
	named    *namedObjectWatch
	releases *releaseWatch
	// halts holds, by UID, the generation of each Deployment that was reported to
	// hold up a roll-out.
	halts   sync.Map
	written lastWritten
	// claims remembers whose conflicts with others end when a Kustomization changes.
	claims claimWatch
	// labelLooks bounds the lists of applications.
	labelLooks labelLooks
}

// outcome is what a pass over a TenantGitOps came to.
type outcome struct {
	// stop, where set, is the reason that nothing was stamped.
	stop *stop
	// requeueAfter asks for another pass.
	requeueAfter time.Duration
}

// stop says why a TenantGitOps is not reconciled.
type stop struct {
	reason  string
	message string
	// stalled: it cannot go on without a change by somebody.
	stalled bool
}

// Reconcile makes the cluster agree with one TenantGitOps.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	tenant := &gitopsv1.TenantGitOps{}
	if err := r.Client.Get(ctx, req.NamespacedName, tenant); err != nil {
		if apierrors.IsNotFound(err) {
			r.named.Forget(req.Namespace)
			r.written.Forget(req.NamespacedName)
			return r.takeDownAbandoned(ctx, req.NamespacedName)
		}
		return ctrl.Result{}, fmt.Errorf("cannot read TenantGitOps %s: %w", req.NamespacedName, err)
	}
	tenant = r.written.Newer(tenant)
	before := tenant.DeepCopy()

	pass := &pass{Reconciler: r, tenant: tenant}
	var out outcome
	var err error
	if tenant.DeletionTimestamp.IsZero() {
		out, err = pass.reconcile(ctx)
	} else {
		out, err = pass.teardown(ctx)
	}
	if pass.gone {
		return ctrl.Result{}, nil
	}
	if ctx.Err() != nil || isPassing(err) {
		// That says nothing about the tenant.
		return ctrl.Result{}, err
	}
	pass.report(ctx, out, err)
	if statusErr := r.writeStatus(ctx, before, tenant); statusErr != nil {
		err = errors.Join(err, statusErr)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: out.requeueAfter}, nil
}

// isPassing says whether an error comes from a change that was not seen yet, or
// from an API server that is busy or away.
func isPassing(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err)
}

// pass is one reconciliation of one TenantGitOps.
type pass struct {
	*Reconciler
	tenant *gitopsv1.TenantGitOps

	// terminating: the tenant's namespace is being deleted.
	terminating bool
	// abandoned: the TenantGitOps went without a teardown.
	abandoned bool
	// live is what the cluster holds for this tenant.
	live *live
	// problems are the sources that cannot be reconciled as they are, by name.
	problems map[string]problem
	// bound is how large an artifact may be.
	bound resource.Quantity
	// prunes is what was decided of the deletions of each source, by name.
	prunes map[string]pruneguard.Decision
	// owned is what was found of each source's applications that others have too, by
	// the name of its Kustomization.
	owned map[string]owned
	// ownersUnsettled: owner labels are still to be taken off.
	ownersUnsettled bool
	// health is how the applications of each source fare, by name.
	health map[string]helmrelease.Health
	// removalOff are the applications of each source that keep what leaves git.
	removalOff map[string][]string
	// deployKeys and ageRecipient are public halves of generated keys.
	deployKeys   map[string]string
	ageRecipient string
	// said is what the status says of each source, where the spec has not changed since.
	said map[string]gitopsv1.SourceStatus
	// gone: the TenantGitOps has been let go, so there is no status to write.
	gone bool
}

// problem is why a source cannot be reconciled, found before Flux was asked.
type problem struct {
	reason  string
	message string
	// held: the source's objects are neither stamped nor taken down.
	held bool
	// stalled: it cannot go on without a change of the spec.
	stalled bool
}

// reconcile puts up what the spec asks for.
func (p *pass) reconcile(ctx context.Context) (outcome, error) {
	namespace, err := p.namespace(ctx)
	if err != nil {
		return outcome{}, err
	}
	if namespace == nil || p.terminating {
		// The namespace takes the TenantGitOps with it; then comes the teardown.
		return outcome{stop: &stop{reason: gitopsv1.ReasonTerminating, message: "the namespace is being deleted"}}, nil
	}
	if !p.Config.Tenancy.IsTenant(*namespace) {
		return outcome{stop: &stop{
			reason:  gitopsv1.ReasonNotATenant,
			message: fmt.Sprintf("namespace %s is not a tenant's: create the TenantGitOps in a tenant's namespace", namespace.Name),
			stalled: true,
		}}, nil
	}
	if controllerutil.AddFinalizer(p.tenant, Finalizer) {
		if err := p.patchFinalizers(ctx, controllerutil.AddFinalizer); err != nil {
			return outcome{}, err
		}
	}
	facts, err := p.platform.read(ctx)
	if err != nil {
		return outcome{}, err
	}
	if facts.mend != nil {
		return outcome{
			stop:         &stop{reason: gitopsv1.ReasonPlatformNotReady, message: facts.mend.Error(), stalled: true},
			requeueAfter: p.Config.PlatformTTL,
		}, nil
	}
	if p.live, err = p.readLive(ctx, p.Client); err != nil {
		return outcome{}, err
	}
	return p.stampAndPrune(ctx, facts)
}

// namespace reads the tenant's namespace from the cache; nil when it is gone.
func (p *pass) namespace(ctx context.Context) (*tenancy.Namespace, error) {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := p.Client.Get(ctx, client.ObjectKey{Name: p.tenant.Namespace}, ns); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read namespace %s: %w", p.tenant.Namespace, err)
	}
	p.terminating = !ns.DeletionTimestamp.IsZero()
	return &tenancy.Namespace{Name: ns.Name, Labels: ns.Labels}, nil
}

// patchFinalizers puts the operator's finalizer on the TenantGitOps as it is now,
// or takes it off, and leaves those of others alone.
func (p *pass) patchFinalizers(ctx context.Context, change func(client.Object, string) bool) error {
	stored := &gitopsv1.TenantGitOps{}
	if err := p.Client.Get(ctx, client.ObjectKeyFromObject(p.tenant), stored); err != nil {
		return fmt.Errorf("cannot read TenantGitOps %s: %w", client.ObjectKeyFromObject(p.tenant), err)
	}
	changed := stored.DeepCopy()
	if !change(changed, Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(stored, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Patch(ctx, changed, patch, client.FieldOwner(apply.FieldManager)); err != nil {
		return fmt.Errorf("cannot write the finalizers of TenantGitOps %s: %w", client.ObjectKeyFromObject(p.tenant), err)
	}
	p.tenant.ResourceVersion = changed.ResourceVersion
	return nil
}

// writeStatus writes the status where it changed.
func (r *Reconciler) writeStatus(ctx context.Context, before, after *gitopsv1.TenantGitOps) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	base := after.DeepCopy()
	base.Status = before.Status
	stored := after.DeepCopy()
	err := r.Client.Status().Patch(ctx, stored, client.MergeFrom(base), client.FieldOwner(apply.FieldManager))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot write the status of TenantGitOps %s: %w", client.ObjectKeyFromObject(after), err)
	}
	r.written.Remember(stored)
	return nil
}

// requested is the value of the annotation by which a person asks for a
// reconciliation.
func (p *pass) requested() string {
	value, _ := meta.ReconcileAnnotationValue(p.tenant.GetAnnotations())
	return value
}
