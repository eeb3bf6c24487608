package tenantgitops

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// settleOwnerLabels takes Flux's owner labels off the applications that no Kustomization
// has any more: those of a source that is gone, and those that one has dropped and not
// pruned. It looks when an inventory is another than when it looked last; the status has
// that as a digest, which is written when all labels are right.
//
// An applications API that does not answer keeps nothing else from being done; it returns
// after how long to look again.
func (p *pass) settleOwnerLabels(ctx context.Context) time.Duration {
	digest, err := p.live.inventories()
	if err == nil && digest == p.tenant.Status.OwnersSettled {
		return 0
	}
	// What comes and goes before all is settled must not leave the digest of before.
	p.tenant.Status.OwnersSettled = ""
	if left := p.labelLooks.left(p.tenant.Namespace, digest, time.Now()); err == nil && left > 0 {
		p.ownersUnsettled = true
		return left
	}
	for _, namespace := range p.boundNamespaces() {
		var done bool
		if err == nil {
			done, err = p.cleanOwnerLabels(ctx, namespace)
		}
		p.ownersUnsettled = p.ownersUnsettled || !done
	}
	if err != nil {
		p.ownersUnsettled = true
		ctrl.LoggerFrom(ctx).Error(err, "cannot take owner labels off all applications that no source has any more")
		return pendingInterval
	}
	if !p.ownersUnsettled {
		p.tenant.Status.OwnersSettled = digest
	}
	return 0
}

// labelLooks bounds how often the applications of a tenant are listed while its labels are
// not settled: each write of anything around it would list them all again.
type labelLooks struct {
	mu   sync.Mutex
	last map[string]labelLook
}

type labelLook struct {
	digest string
	at     time.Time
}

// left is after how long a tenant's labels may be looked at again; zero, and a look of now
// noted, where that is at once: for other inventories than last time.
func (l *labelLooks) left(tenant, digest string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.last[tenant]; last.digest == digest {
		if left := last.at.Add(pendingInterval).Sub(now); left > 0 {
			return left
		}
	}
	if l.last == nil {
		l.last = map[string]labelLook{}
	}
	l.last[tenant] = labelLook{digest: digest, at: now}
	return 0
}

// forget drops what is remembered of a tenant that is gone.
func (l *labelLooks) forget(tenant string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.last, tenant)
}

// inventories is a digest of which Kustomization has which applications.
func (l *live) inventories() (string, error) {
	content := map[string][]string{}
	for name, k := range l.kustomizations {
		ids := []string{string(k.UID)}
		if k.Status.Inventory != nil {
			for _, entry := range k.Status.Inventory.Entries {
				ids = append(ids, entry.ID)
			}
		}
		slices.Sort(ids[1:])
		content[name] = ids
	}
	return stamp.Digest(content)
}

// boundNamespaces are the namespaces in which the operator works for this tenant.
func (p *pass) boundNamespaces() []string {
	namespaces := []string{}
	for i := range p.live.bindings {
		if binding := &p.live.bindings[i]; binding.Name == names.SelfBinding(p.tenant.Namespace) && binding.DeletionTimestamp.IsZero() {
			namespaces = append(namespaces, binding.Namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// cleanOwnerLabels takes the labels of this tenant's Kustomizations off what they do not
// have, in one namespace. It says whether all is said: while a Kustomization is at it, the
// labels may be ahead of its inventory.
func (p *pass) cleanOwnerLabels(ctx context.Context, namespace string) (settled bool, err error) {
	kinds, err := p.applicationKinds(ctx)
	if err != nil {
		return false, err
	}
	settled = true
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := p.Client.List(ctx, list, client.InNamespace(namespace), client.MatchingLabels{ownership.NamespaceLabel: p.tenant.Namespace})
		if apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("cannot list %s in %s: %w", kind.Kind, namespace, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			free, known := p.live.isFree(object)
			settled = settled && known
			if free {
				// The cache may be behind what Flux is doing.
				if free, err = p.isFreeNow(ctx, object); err != nil {
					return false, err
				}
				settled = settled && free
			}
			if !free {
				continue
			}
			if err := p.takeOwnerLabelsOff(ctx, object); err != nil {
				return false, err
			}
		}
	}
	return settled, nil
}

// isFree says whether no Kustomization of the tenant has an application, as far as that is
// known: while the one that its labels name has no inventory to go by, it is not.
func (l *live) isFree(object *unstructured.Unstructured) (free, known bool) {
	application := pruneguard.Application{Namespace: object.GetNamespace(), Name: object.GetName(), Kind: object.GetKind()}
	for _, k := range l.kustomizations {
		if ownership.Has(k, application) {
			return false, true
		}
	}
	if object.GetDeletionTimestamp() != nil {
		return false, true
	}
	key, _ := ownership.Owner(object.GetLabels())
	owner := l.kustomizations[key.Name]
	if owner != nil && owner.Spec.Suspend {
		// It does not apply, and what it had is in its inventory.
		return true, true
	}
	if owner != nil && (ownership.Holds(owner, application) || !owner.DeletionTimestamp.IsZero()) {
		return false, false
	}
	return true, true
}

// isFreeNow asks the API server whether the Kustomization that an application's labels
// name has it.
func (p *pass) isFreeNow(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	key, named := ownership.Owner(object.GetLabels())
	if !named {
		return true, nil
	}
	owner := &kustomizev1.Kustomization{}
	if err := p.Uncached.Get(ctx, key, owner); err != nil {
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, fmt.Errorf("cannot read Kustomization %s: %w", key, err)
	}
	now := &live{kustomizations: map[string]*kustomizev1.Kustomization{owner.Name: owner}}
	free, _ := now.isFree(object)
	return free, nil
}

// takeOwnerLabelsOff takes the two labels off, unless somebody has written the application
// since it was read: then the next pass looks again.
func (p *pass) takeOwnerLabelsOff(ctx context.Context, object *unstructured.Unstructured) error {
	changed := object.DeepCopy()
	labels := changed.GetLabels()
	delete(labels, ownership.NameLabel)
	delete(labels, ownership.NamespaceLabel)
	changed.SetLabels(labels)
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	err := p.Client.Patch(ctx, changed, patch, client.FieldOwner(apply.FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot take Flux's labels off %s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return nil
}

// applicationKinds are the kinds of applications that may have labels of Flux.
func (p *pass) applicationKinds(ctx context.Context) ([]schema.GroupVersionKind, error) {
	facts, err := p.platform.read(ctx)
	if err != nil {
		return nil, err
	}
	var kinds []schema.GroupVersionKind
	for _, plural := range facts.kinds {
		kind, err := p.Client.RESTMapper().KindFor(schema.GroupVersionResource{Group: stamp.ApplicationsGroup, Resource: plural})
		if apimeta.IsNoMatchError(err) {
			// A role may list kinds that are not installed.
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot find the kind of %s: %w", plural, err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}
