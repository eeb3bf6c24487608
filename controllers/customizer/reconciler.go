// Package customizer reconciles Customizers: it stamps what has Flux apply a repository to the
// platform, and tells how far that has come.
package customizer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// Config is the operator's configuration of the admin tier.
type Config struct {
	// ResyncInterval is how often a Customizer is looked at when nothing happens: what somebody
	// took away of its bindings is there again after that at the latest.
	ResyncInterval time.Duration
	// FinalizerGrace is how long Flux may take to release a Kustomization with nothing to
	// delete before the operator does.
	FinalizerGrace time.Duration
}

// Reconciler reconciles Customizers.
type Reconciler struct {
	// Client writes.
	Client client.Client
	// Flux reads the Flux objects that are stamped for Customizers, from a cache.
	Flux client.Reader
	// Live reads past all caches. There are few Customizers, and what was written last of one
	// decides what is told of it next.
	Live client.Reader
	// Applier writes what is stamped.
	Applier *apply.Applier
	// Served knows what the cluster serves.
	Served *servedResources
	// Events records events for admins.
	Events events.EventRecorder
	Config Config
}

// retryInterval is after how long what the API server refused is tried again.
const retryInterval = 30 * time.Second

// conflictInterval is after how long a Customizer is looked at again that somebody else has
// written at the same moment, which is no failure.
const conflictInterval = time.Second

// Reconcile stamps one Customizer, or takes it down.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.reconcile(ctx, request)
	if apierrors.IsConflict(err) {
		ctrl.LoggerFrom(ctx).V(1).Info("somebody else wrote at the same moment", "error", err.Error())
		return ctrl.Result{RequeueAfter: conflictInterval}, nil
	}
	return result, err
}

func (r *Reconciler) reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	c := &gitopsv1.Customizer{}
	if err := r.Live.Get(ctx, request.NamespacedName, c); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("cannot read Customizer %s: %w", request.Name, err)
	}
	if !c.DeletionTimestamp.IsZero() {
		return r.takeDown(ctx, c)
	}
	if !controllerutil.ContainsFinalizer(c, customizer.Finalizer) {
		if err := r.patchFinalizers(ctx, c, controllerutil.AddFinalizer); err != nil {
			return ctrl.Result{}, err
		}
	}
	if c.Status.Account == "" {
		// It is written down before anything is called so.
		if err := r.claimAccount(ctx, c); err != nil {
			return ctrl.Result{}, err
		}
	}
	stack, err := customizer.Stamp(c, c.Status.Account)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.putUp(ctx, c, stack); err != nil {
		return r.refused(ctx, c, err)
	}
	if err := r.askFlux(ctx, c, stack); err != nil {
		return ctrl.Result{}, err
	}
	seen, err := r.look(ctx, stack)
	if err != nil {
		return ctrl.Result{}, err
	}
	unresolved, err := r.unresolved(ctx, c)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.Config.ResyncInterval}, r.report(ctx, c, customizer.Judge(c, seen), &seen, unresolved)
}

// claimAccount decides what all is called that is stamped for a Customizer.
func (r *Reconciler) claimAccount(ctx context.Context, c *gitopsv1.Customizer) error {
	var all gitopsv1.CustomizerList
	if err := r.Live.List(ctx, &all); err != nil {
		return fmt.Errorf("cannot list Customizers: %w", err)
	}
	account := &metav1.PartialObjectMetadata{}
	account.SetGroupVersionKind(serviceAccountKind)
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: gitopsv1.CustomizerNamespace, Name: customizer.FirstAccount}, account)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read ServiceAccount %s/%s: %w", gitopsv1.CustomizerNamespace, customizer.FirstAccount, err)
	}
	before := c.DeepCopy()
	c.Status.Account = customizer.Account(c, all.Items, account.Labels[customizer.Label])
	return r.patchStatus(ctx, before, c)
}

// putUp makes the cluster hold what is stamped, and nothing of what was stamped before and is
// not any more. Rights that are taken away go first.
func (r *Reconciler) putUp(ctx context.Context, c *gitopsv1.Customizer, stack *customizer.Stack) error {
	if err := r.withdraw(ctx, c, stack); err != nil {
		return err
	}
	if err := r.makeNamespaces(ctx, stack); err != nil {
		return err
	}
	for _, obj := range stack.Access {
		if _, err := r.Applier.Apply(ctx, obj); err != nil {
			return err
		}
	}
	for _, obj := range stack.Extra {
		if _, err := r.Applier.Apply(ctx, obj); err != nil {
			if rules, ok := customizer.NotHeld(err); ok {
				return &refusal{gitopsv1.ReasonRulesNotHeld, customizer.MessageNotHeld(rules)}
			}
			return err
		}
	}
	for _, obj := range []client.Object{stack.Fetched, stack.Kustomization} {
		if _, err := r.Applier.Apply(ctx, obj); err != nil {
			return err
		}
	}
	return r.removeOtherSource(ctx, stack)
}

// refusal is why nothing more can be stamped before somebody mends it.
type refusal struct{ reason, message string }

func (r *refusal) Error() string { return r.message }

// refused tells what the API server refused, and tries again.
func (r *Reconciler) refused(ctx context.Context, c *gitopsv1.Customizer, err error) (ctrl.Result, error) {
	verdict := customizer.Verdict{Ready: metav1.ConditionFalse, Reason: gitopsv1.ReasonStampFailed, Message: err.Error()}
	var why *refusal
	role := customizer.ProfileRole(c.Spec.RBAC.Profile)
	switch {
	case errors.As(err, &why):
		verdict.Reason, verdict.Message = why.reason, why.message
	case errors.Is(err, apply.ErrNameTaken):
		verdict.Reason = gitopsv1.ReasonNameTaken
	case isRoleMissing(err, role):
		verdict.Reason = gitopsv1.ReasonProfileNotInstalled
		verdict.Message = fmt.Sprintf("the operator may not bind the role %s of the profile %s: install config/customizer, and for ClusterAdmin config/customizer-cluster-admin (%s)", role, c.Spec.RBAC.Profile, err)
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err):
		// It passes by itself: an API server that is away, a write that another one came before.
		return ctrl.Result{}, err
	}
	after := retryInterval
	if verdict.Reason == gitopsv1.ReasonProgressing {
		verdict.Ready, after = metav1.ConditionUnknown, lookAgain
	} else {
		verdict.Stalled = true
	}
	return ctrl.Result{RequeueAfter: after}, r.report(ctx, c, verdict, nil, nil)
}

// isRoleMissing says whether a role is not there, or the operator may not bind it. The API
// server compares the rights only of roles that it may not bind by name.
func isRoleMissing(err error, role string) bool {
	_, notHeld := customizer.NotHeld(err)
	var status apierrors.APIStatus
	isRole := errors.As(err, &status) && status.Status().Details != nil &&
		status.Status().Details.Kind == "clusterroles" && status.Status().Details.Name == role
	return notHeld || apierrors.IsNotFound(err) && isRole
}

// askFlux passes a person's request to reconcile on, once.
func (r *Reconciler) askFlux(ctx context.Context, c *gitopsv1.Customizer, stack *customizer.Stack) error {
	if requested(c) == c.Status.GetLastHandledReconcileRequest() {
		return nil
	}
	now := time.Now()
	for _, obj := range []client.Object{stack.Fetched, stack.Kustomization} {
		stored := obj.DeepCopyObject().(client.Object)
		if err := r.Live.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
			return fmt.Errorf("cannot read %T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
		}
		if err := r.Applier.Request(ctx, stored, now); err != nil {
			return err
		}
	}
	return nil
}

func requested(c *gitopsv1.Customizer) string {
	value, _ := meta.ReconcileAnnotationValue(c.Annotations)
	return value
}

// unresolved are the resources of the account's rules that the cluster does not serve.
func (r *Reconciler) unresolved(ctx context.Context, c *gitopsv1.Customizer) ([]string, error) {
	if c.Spec.RBAC.Profile == gitopsv1.ProfileClusterAdmin {
		return nil, nil
	}
	roles := []string{customizer.ProfileRole(c.Spec.RBAC.Profile)}
	if len(c.Spec.RBAC.OwnedNamespaces) > 0 {
		roles = append(roles, customizer.OwnedNamespaceRole)
	}
	var rules []rbacv1.PolicyRule
	for _, extra := range c.Spec.RBAC.ExtraRules {
		rules = append(rules, extra.PolicyRule())
	}
	for _, name := range roles {
		role := &rbacv1.ClusterRole{}
		if err := r.Live.Get(ctx, client.ObjectKey{Name: name}, role); err != nil {
			return nil, fmt.Errorf("cannot read ClusterRole %s: %w", name, err)
		}
		rules = append(rules, role.Rules...)
	}
	return customizer.Unresolved(rules, r.Served.has)
}
