package tenantgitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// podGrace is how much longer than its own grace period a controller's pod is
// waited for, before its NetworkPolicy goes all the same: a node that is cut off
// must not hold a tenant's namespace.
const podGrace = 15 * time.Second

// keepRetry is after how long a controller that could not be kept is tried again.
const keepRetry = 10 * time.Second

// teardown takes everything of a deleted TenantGitOps down, in steps, each of
// which waits for the one before: Kustomizations; the owner labels that they left; sources; the controller; its
// network policy and account; the accounts and Roles; the operator's own binding;
// the finalizer. What is left is read from the API server each time, so a controller
// killed between two steps goes on where it was.
func (p *pass) teardown(ctx context.Context) (outcome, error) {
	if !controllerutil.ContainsFinalizer(p.tenant, Finalizer) {
		p.gone = true
		return outcome{}, nil
	}
	namespace, err := p.namespace(ctx)
	if err != nil {
		return outcome{}, err
	}
	if p.live, err = p.readLive(ctx, p.Uncached); err != nil {
		return outcome{}, err
	}
	if namespace != nil && len(p.live.kustomizations) > 0 {
		return p.takeDownKustomizations(ctx)
	}
	for _, step := range []func(context.Context) (waitsFor string, after time.Duration, err error){
		p.freeApplications, p.removeRepositories, p.removeController, p.removeAccounts,
	} {
		waitsFor, after, err := step(ctx)
		if err != nil {
			return outcome{}, err
		}
		if waitsFor != "" {
			return p.waiting(waitsFor, after), nil
		}
	}
	p.named.Forget(p.tenant.Namespace)
	p.labelLooks.forget(p.tenant.Namespace)
	if err := p.patchFinalizers(ctx, controllerutil.RemoveFinalizer); client.IgnoreNotFound(err) != nil {
		return outcome{}, err
	}
	p.gone = true
	return outcome{}, nil
}

func (p *pass) waiting(waitsFor string, after time.Duration) outcome {
	return outcome{
		stop:         &stop{reason: gitopsv1.ReasonTerminating, message: "waiting for " + waitsFor},
		requeueAfter: after,
	}
}

// takeDownKustomizations deletes the Kustomizations, and keeps all that their
// finalizers need: a controller deleted by hand meanwhile comes back.
func (p *pass) takeDownKustomizations(ctx context.Context) (outcome, error) {
	var err error
	if p.bound, err = p.artifactBound(ctx); err != nil {
		return outcome{}, err
	}
	// Where it cannot be kept, the finalizers are still to be seen to: with a
	// controller that does not come back, rescue is the only way out.
	kept := p.keepController(ctx)
	if err := p.settlePolicies(ctx); err != nil {
		return outcome{}, err
	}
	var after time.Duration
	// A Kustomization written by hand can make this last as long as its author likes.
	if !p.terminating && !p.abandoned {
		if err := p.holdOthers(ctx, nil); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot hold or resume all sources while Kustomizations are deleted")
			after = sooner(after, refusedInterval)
		}
	}
	var waitsFor []string
	for _, name := range sortedKeys(p.live.kustomizations) {
		kustomization := p.live.kustomizations[name]
		waitsFor = append(waitsFor, describeTakeDown(kustomization))
		if !isStamped(kustomization) && kustomization.DeletionTimestamp.IsZero() {
			continue
		}
		wait, err := p.takeDown(ctx, kustomization)
		if err != nil {
			return outcome{}, err
		}
		after = sooner(after, wait)
	}
	if kept != nil {
		ctrl.LoggerFrom(ctx).Error(kept, "cannot keep the controller for the last finalizers")
		waitsFor = append(waitsFor, "the controller, which cannot be kept: "+kept.Error())
		after = sooner(after, keepRetry)
	}
	return p.waiting(strings.Join(waitsFor, "; "), after), nil
}

// settlePolicies makes the Kustomizations delete or orphan as the spec says now:
// it may have changed since they were stamped last, and this is the last chance.
// All of them orphan where the custom resource definition itself is being deleted
// (somebody is reinstalling the operator, and no tenant has asked for anything to
// go), and where the TenantGitOps is gone without a trace, since that may be the
// same done by force.
func (p *pass) settlePolicies(ctx context.Context) error {
	if p.terminating {
		return nil
	}
	spare := p.abandoned
	if !spare {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := p.Client.Get(ctx, client.ObjectKey{Name: tenantGitOpsCRD}, crd); err != nil {
			return fmt.Errorf("cannot read custom resource definition %s: %w", tenantGitOpsCRD, err)
		}
		spare = !crd.DeletionTimestamp.IsZero()
	}
	sources := map[string]gitopsv1.Source{}
	for _, source := range p.tenant.Spec.Sources {
		sources[names.FluxObject(source.Name)] = source
	}
	for _, name := range sortedKeys(p.live.kustomizations) {
		kustomization := p.live.kustomizations[name]
		if !isStamped(kustomization) {
			continue
		}
		settled := kustomization.DeepCopy()
		if source, wanted := sources[name]; wanted {
			settled.Spec.DeletionPolicy = stamp.DeletionPolicy(source)
			settled.Spec.Prune = source.Prune == nil || *source.Prune
			// Flux deletes nothing of one that is suspended.
			settled.Spec.Suspend = p.tenant.Spec.Suspend || source.Suspend
		} else {
			// Its source was removed, and no pass has come to prune it.
			p.resume(settled)
		}
		if spare {
			settled.Spec.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
		}
		if err := p.patchKustomization(ctx, kustomization, settled); err != nil {
			return err
		}
	}
	return nil
}

// patchKustomization writes what differs between the two, if anything does.
func (p *pass) patchKustomization(ctx context.Context, stored, changed *kustomizev1.Kustomization) error {
	if equality.Semantic.DeepEqual(stored.Spec, changed.Spec) {
		return nil
	}
	err := p.Client.Patch(ctx, changed, client.MergeFrom(stored), client.FieldOwner(apply.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot change Kustomization %s: %w", client.ObjectKeyFromObject(stored), err)
	}
	p.live.kustomizations[stored.Name] = changed
	return nil
}

// describeTakeDown says what the end of a Kustomization waits for.
func describeTakeDown(kustomization *kustomizev1.Kustomization) string {
	if !isStamped(kustomization) && kustomization.DeletionTimestamp.IsZero() {
		return fmt.Sprintf("Kustomization %s, which is not this TenantGitOps's: delete it", kustomization.Name)
	}
	text := fmt.Sprintf("Kustomization %s (%s)", kustomization.Name, kustomization.GetDeletionPolicy())
	if kustomization.Spec.Suspend || kustomization.GetDeletionPolicy() == kustomizev1.DeletionPolicyOrphan || kustomization.Status.Inventory == nil {
		return text
	}
	return fmt.Sprintf("%s to delete %d applications", text, len(kustomization.Status.Inventory.Entries))
}

// keepController applies what the Kustomizations' finalizers need.
func (p *pass) keepController(ctx context.Context) error {
	facts, err := p.platform.read(ctx)
	if err != nil {
		return err
	}
	if facts.mend != nil {
		// Nothing may be stamped; what stands stays, and the grace period ends it.
		return nil
	}
	p.problems, p.deployKeys = map[string]problem{}, map[string]string{}
	targets, err := p.targets(ctx)
	if err != nil {
		return err
	}
	in := stamp.Input{Tenant: p.tenant, Config: p.Config.Stamp, Network: facts.network, Kinds: facts.kinds, Targets: targets}
	if !p.terminating {
		// In a namespace that is going, what is there is held by finalizers, and
		// what is not there cannot be made.
		if err := p.bindSelf(ctx, in); err != nil {
			return err
		}
		if in.Named, _, err = p.checkNamed(ctx); err != nil {
			return err
		}
	}
	stack, err := stamp.Tenant(in)
	if err != nil {
		return err
	}
	for _, obj := range stack.Accounts {
		if p.terminating && obj.GetNamespace() == p.tenant.Namespace {
			continue
		}
		if _, err := p.Applier.Apply(ctx, obj); err != nil {
			return err
		}
	}
	return p.applyController(ctx, stack.Controller)
}

// freeApplications takes Flux's owner labels off what the Kustomizations left behind.
func (p *pass) freeApplications(ctx context.Context) (string, time.Duration, error) {
	if p.terminating {
		return "", 0, nil
	}
	for _, namespace := range p.boundNamespaces() {
		if namespace != p.tenant.Namespace {
			if stays, err := p.isDescendant(ctx, namespace); err != nil || !stays {
				if err != nil {
					return "", 0, err
				}
				continue
			}
		}
		settled, err := p.cleanOwnerLabels(ctx, namespace)
		switch {
		case err == nil && settled:
		case p.leavesLabels():
			p.Events.Eventf(p.tenant, nil, corev1.EventTypeWarning, gitopsv1.ReasonOwnerLabelsLeft, "Free",
				"applications in %s keep the labels of Kustomizations that are gone, since the applications API did not let the operator take them off within %s; nobody goes by them", namespace, p.Config.FinalizerGrace)
		case err != nil:
			return "", 0, err
		default:
			return "the owner labels of applications in " + namespace, time.Second, nil
		}
	}
	return "", 0, nil
}

// leavesLabels says whether labels that cannot be taken off hold nothing up any longer: they
// lock nothing without a live Kustomization, and an applications API that is away may stay so.
func (p *pass) leavesLabels() bool {
	return p.abandoned || time.Since(p.tenant.DeletionTimestamp.Time) > p.Config.FinalizerGrace
}

func (p *pass) removeRepositories(ctx context.Context) (string, time.Duration, error) {
	for _, name := range sortedKeys(p.live.gitRepositories) {
		if err := p.Applier.Delete(ctx, p.live.gitRepositories[name]); err != nil {
			return "", 0, err
		}
	}
	for _, name := range sortedKeys(p.live.ociRepositories) {
		if err := p.Applier.Delete(ctx, p.live.ociRepositories[name]); err != nil {
			return "", 0, err
		}
	}
	return "", 0, nil
}

// removeController deletes the Deployment, and when no pod of it is left the
// policy that kept it in.
func (p *pass) removeController(ctx context.Context) (string, time.Duration, error) {
	if p.live.deployment != nil {
		if err := p.Applier.Delete(ctx, p.live.deployment); err != nil {
			return "", 0, err
		}
		return "the controller " + p.controllerName() + " to go", time.Second, nil
	}
	now := time.Now()
	for i := range p.live.pods {
		pod := &p.live.pods[i]
		if pod.DeletionTimestamp.IsZero() {
			// The garbage collector has not come to it yet.
			return "the controller's pod to go", time.Second, nil
		}
		if left := pod.DeletionTimestamp.Add(podGrace).Sub(now); left > 0 {
			return "the controller's pod to go", left, nil
		}
	}
	for i := range p.live.networkPolicies {
		if err := p.Applier.Delete(ctx, &p.live.networkPolicies[i]); err != nil {
			return "", 0, err
		}
	}
	if err := p.deleteCiliumPolicy(ctx); err != nil {
		return "", 0, err
	}
	for i := range p.live.serviceAccounts {
		account := &p.live.serviceAccounts[i]
		if account.Namespace == p.Config.Stamp.ControllersNamespace {
			if err := p.Applier.Delete(ctx, account); err != nil {
				return "", 0, err
			}
		}
	}
	return "", 0, nil
}

// removeAccounts deletes bindings, Roles and the git account, lets them go, and
// last takes the operator itself out of the namespaces.
func (p *pass) removeAccounts(ctx context.Context) (string, time.Duration, error) {
	for i := range p.live.roles {
		if err := p.bindWhereLost(ctx, p.live.roles[i].Namespace); err != nil {
			return "", 0, err
		}
	}
	self := names.SelfBinding(p.tenant.Namespace)
	var first, last []client.Object
	for i := range p.live.bindings {
		if binding := &p.live.bindings[i]; binding.Name == self {
			last = append(last, binding)
		} else {
			first = append(first, binding)
		}
	}
	for i := range p.live.roles {
		first = append(first, &p.live.roles[i])
	}
	for i := range p.live.serviceAccounts {
		if account := &p.live.serviceAccounts[i]; account.Namespace == p.tenant.Namespace {
			first = append(first, account)
		}
	}
	// The binding in the tenant's own namespace goes after all others.
	slices.SortStableFunc(last, func(a, b client.Object) int {
		switch own := p.tenant.Namespace; {
		case a.GetNamespace() != own && b.GetNamespace() == own:
			return -1
		case a.GetNamespace() == own && b.GetNamespace() != own:
			return 1
		}
		return 0
	})
	for _, obj := range append(first, last...) {
		if err := p.Applier.Delete(ctx, obj); err != nil {
			return "", 0, err
		}
		if err := p.Applier.ReleaseNow(ctx, obj, stamp.TeardownFinalizer); err != nil {
			return "", 0, err
		}
	}
	return "", 0, nil
}

// prunePolicies deletes the NetworkPolicy where Cilium's has taken its place. The
// other way there is nothing to delete: Cilium's goes with its kind.
func (p *pass) prunePolicies(ctx context.Context) error {
	facts, err := p.platform.read(ctx)
	if err != nil || !facts.network.Cilium {
		return err
	}
	for i := range p.live.networkPolicies {
		if err := p.Applier.Delete(ctx, &p.live.networkPolicies[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) deleteCiliumPolicy(ctx context.Context) error {
	facts, err := p.platform.read(ctx)
	if err != nil || !facts.network.Cilium {
		return err
	}
	policy := &unstructured.Unstructured{}
	policy.SetGroupVersionKind(schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumNetworkPolicy"})
	key := client.ObjectKey{Namespace: p.Config.Stamp.ControllersNamespace, Name: names.Controller(p.tenant.Namespace)}
	if err := p.Client.Get(ctx, key, policy); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("cannot read CiliumNetworkPolicy %s: %w", key, err)
	}
	return p.Applier.Delete(ctx, policy)
}
