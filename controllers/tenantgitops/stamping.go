package tenantgitops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/rollout"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// stampAndPrune puts up, in order, what the spec asks for, and takes down what
// it no longer asks for.
func (p *pass) stampAndPrune(ctx context.Context, facts *platformFacts) (outcome, error) {
	var err error
	if p.bound, err = p.artifactBound(ctx); err != nil {
		return outcome{}, err
	}
	p.problems = map[string]problem{}
	p.deployKeys = map[string]string{}
	p.findCycles()
	targets, err := p.targets(ctx)
	if err != nil {
		return outcome{}, err
	}
	in := stamp.Input{
		Tenant:  p.tenant,
		Config:  p.Config.Stamp,
		Network: facts.network,
		Kinds:   facts.kinds,
		Targets: targets,

		HealthKinds: facts.healthKinds,
	}
	if err := p.revive(ctx); err != nil {
		return outcome{}, err
	}
	if err := p.bindSelf(ctx, in); err != nil {
		return outcome{}, err
	}
	if err := p.ensureKeys(ctx); err != nil {
		return outcome{}, err
	}
	if in.Named, in.Requested, err = p.checkNamed(ctx); err != nil {
		return outcome{}, err
	}
	in.Held = p.oversized()
	in.PruneGranted = p.guardPrunes()
	in.NotAwaited = p.notAwaited(ctx, facts.releases, targets)
	if in.Stamped, err = p.stampable(in, facts); err != nil {
		return outcome{}, err
	}
	stack, err := stamp.Tenant(in)
	if err != nil {
		return outcome{}, err
	}
	if err := p.applyAll(ctx, stack.Accounts); err != nil {
		return outcome{}, err
	}
	if err := p.applyController(ctx, stack.Controller); err != nil {
		return outcome{}, err
	}
	refused, err := p.applySources(ctx, append(stack.Sources, stack.Kustomizations...))
	if err != nil {
		return outcome{}, err
	}
	// What somebody wrote by hand may be refused for ever, and is to keep nothing else
	// from being done.
	notHeld := p.holdOthers(ctx, in.Stamped)
	if err := p.askToPrune(ctx); err != nil {
		return outcome{}, err
	}
	if err := p.settleHeld(ctx); err != nil {
		return outcome{}, err
	}
	moves, err := p.settleOwnership(ctx)
	if err != nil {
		return outcome{}, err
	}
	moves = sooner(moves, p.settleOwnerLabels(ctx))
	contended, err := p.askContended(ctx)
	if err != nil {
		return outcome{}, err
	}
	after, err := p.prune(ctx, targets)
	if err != nil {
		return outcome{}, err
	}
	after = sooner(after, sooner(moves, contended))
	if refused {
		after = sooner(after, refusedInterval)
	}
	if after == 0 || after > p.Config.ResyncInterval {
		after = p.Config.ResyncInterval
	}
	if facts.releases {
		// Last, so that all that is to be done is done also where it fails.
		if err := p.readHealth(ctx, targets); err != nil {
			return outcome{}, err
		}
	}
	p.tenant.Status.LastHandledReconcileAt = p.requested()
	return outcome{requeueAfter: after}, notHeld
}

// stampable are the sources of the spec whose objects may be written: not those
// that are held, and not those with a field that the served CRDs would drop.
func (p *pass) stampable(in stamp.Input, facts *platformFacts) ([]gitopsv1.Source, error) {
	var stamped []gitopsv1.Source
	for _, source := range p.tenant.Spec.Sources {
		if p.problems[source.Name].held {
			continue
		}
		in.Stamped = []gitopsv1.Source{source}
		objects, err := stamp.SourceObjects(in)
		if err != nil {
			return nil, err
		}
		known := true
		for _, obj := range objects {
			if mend := p.platform.unknownFields(facts, obj); mend != nil {
				known = false
				p.problems[source.Name] = problem{reason: gitopsv1.ReasonFieldNotSupported, message: mend.Error(), held: true}
			}
		}
		if known {
			stamped = append(stamped, source)
		}
	}
	return stamped, nil
}

// settleHeld lets a source whose objects cannot be stamped as they should be at
// least be suspended, and keep its applications: both must work in any state.
func (p *pass) settleHeld(ctx context.Context) error {
	for _, source := range p.tenant.Spec.Sources {
		stored := p.live.kustomizations[names.FluxObject(source.Name)]
		if stored == nil || !p.problems[source.Name].held || !isStamped(stored) || !stored.DeletionTimestamp.IsZero() {
			continue
		}
		settled := stored.DeepCopy()
		settled.Spec.Suspend = p.tenant.Spec.Suspend || source.Suspend
		settled.Spec.DeletionPolicy = stamp.DeletionPolicy(source)
		if err := p.patchKustomization(ctx, stored, settled); err != nil {
			return err
		}
	}
	return nil
}

// revive lets go of accounts, Roles and bindings that somebody deleted while the
// tenant needs them, so that they can be made again. In a namespace that is being
// deleted they could not be, so the API server is asked and not the cache.
func (p *pass) revive(ctx context.Context) error {
	deleted := p.live.deletedAccounts()
	if len(deleted) == 0 {
		return nil
	}
	ns := &corev1.Namespace{}
	if err := p.Uncached.Get(ctx, client.ObjectKey{Name: p.tenant.Namespace}, ns); err != nil {
		return fmt.Errorf("cannot read namespace %s: %w", p.tenant.Namespace, err)
	}
	if !ns.DeletionTimestamp.IsZero() {
		return nil
	}
	for _, obj := range deleted {
		if err := p.Applier.ReleaseNow(ctx, obj, stamp.TeardownFinalizer); err != nil {
			return err
		}
	}
	return nil
}

// bindSelf binds the operator into the tenant's namespaces, and waits until the
// API server knows it: all that follows needs those rights.
func (p *pass) bindSelf(ctx context.Context, in stamp.Input) error {
	bindings, err := stamp.SelfBindings(in)
	if err != nil {
		return err
	}
	for _, binding := range bindings {
		changed, err := p.Applier.Apply(ctx, binding)
		if err != nil {
			return err
		}
		if changed {
			if err := p.awaitAccess(ctx, binding.GetNamespace()); err != nil {
				return err
			}
		}
	}
	return nil
}

// accessTimeout bounds the wait for a binding to take effect.
const accessTimeout = 10 * time.Second

func (p *pass) awaitAccess(ctx context.Context, namespace string) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, accessTimeout, true, func(ctx context.Context) (bool, error) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: "create", Group: "rbac.authorization.k8s.io", Resource: "roles",
			},
		}}
		if err := p.Client.Create(ctx, review); err != nil {
			return false, err
		}
		return review.Status.Allowed, nil
	})
	if err != nil {
		return fmt.Errorf("cannot work in namespace %s: the operator's binding there has no effect: %w", namespace, err)
	}
	return nil
}

// applyAll applies objects in order. Where an object says that Flux is to be
// asked, Flux is asked first: a controller killed in between asks once more,
// never too little.
func (p *pass) applyAll(ctx context.Context, objects []client.Object) error {
	for _, obj := range objects {
		if err := p.askFlux(ctx, obj); err != nil {
			return err
		}
		if _, err := p.Applier.Apply(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// refusedInterval is after how long an object that was refused is tried again.
const refusedInterval = time.Minute

// applySources applies the Flux objects of the sources. What the API server refuses as
// invalid (a control character in a url is enough), or by a policy, is the problem of its
// source, and stops no other.
func (p *pass) applySources(ctx context.Context, objects []client.Object) (refused bool, err error) {
	for _, obj := range objects {
		source := obj.GetLabels()[stamp.SourceLabel]
		if p.problems[source].held {
			continue
		}
		err := p.applyAll(ctx, []client.Object{obj})
		switch {
		case errors.Is(err, apply.ErrNameTaken):
			refused = true
			p.problems[source] = problem{reason: gitopsv1.ReasonNameTaken, message: err.Error(), held: true}
		case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || isRefusedByAdmission(err):
			refused = true
			p.problems[source] = problem{reason: gitopsv1.ReasonStampFailed, message: err.Error(), held: true}
		case err != nil:
			return false, err
		}
	}
	return refused, nil
}

// isRefusedByAdmission says whether a policy or webhook refused this very object. Where RBAC
// does, the reason and status are the same, and no source can help it.
func isRefusedByAdmission(err error) bool {
	if !apierrors.IsForbidden(err) {
		return false
	}
	text := err.Error()
	return strings.Contains(text, "ValidatingAdmissionPolicy") || strings.Contains(text, "admission webhook")
}

func (p *pass) askFlux(ctx context.Context, desired client.Object) error {
	wanted := desired.GetAnnotations()[stamp.RequestedAnnotation]
	if wanted == "" {
		return nil
	}
	stored := p.live.fluxObject(desired)
	if stored == nil || stored.GetAnnotations()[stamp.RequestedAnnotation] == wanted {
		return nil
	}
	return p.Applier.Request(ctx, stored, time.Now())
}

// applyController applies the controller; an existing one takes a new
// configuration only when its wave has come.
func (p *pass) applyController(ctx context.Context, objects []client.Object) error {
	for _, obj := range objects {
		if digest, ok := obj.GetAnnotations()[stamp.ControllerConfigAnnotation]; ok && p.live.deployment != nil {
			if p.live.deployment.Annotations[stamp.ControllerConfigAnnotation] != digest {
				verdict, err := p.rolloutVerdict(ctx, digest)
				if err != nil {
					return err
				}
				if !verdict.Allowed {
					continue
				}
			}
			markRollout(p.live.deployment, obj, digest)
			if err := p.reportHalt(ctx, digest); err != nil {
				return err
			}
		}
		if _, err := p.Applier.Apply(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// rolloutVerdict looks at all tenants' controllers.
func (p *pass) rolloutVerdict(ctx context.Context, digest string) (rollout.Verdict, error) {
	controllers, err := p.controllers(ctx, digest)
	if err != nil {
		return rollout.Verdict{}, err
	}
	return rollout.Next(p.tenant.Namespace, controllers, p.Config.RolloutBatch), nil
}
