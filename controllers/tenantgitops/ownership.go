package tenantgitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// maxConflicts bounds how many conflicts the status of a source lists.
const maxConflicts = 20

// owned is what was found of a source's applications that other sources have too.
type owned struct {
	// conflicts are applications that two sources want.
	conflicts []gitopsv1.ConflictStatus
	// takesOver is an application that another one has let go of.
	takesOver string
	// holder is the source that a deletion waits for and that somebody has to see to.
	holder holder
}

// holder is a source that holds deletions, and what is the matter with it.
type holder struct{ name, state string }

const (
	holderFails   = "fails"
	holderOverdue = "has not come to an end with its newest revision for a long time"
)

// message says which application it is, who has it too, and the mend.
func (o owned) message(tenant string) string {
	first := o.conflicts[0]
	text := fmt.Sprintf("%s is in %s too: remove it from one of the two; until then, who applied it first keeps it", first.Application, nameOfOther(tenant, first.With))
	if more := len(o.conflicts) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// nameOfOther is how a tenant is told of a Kustomization.
func nameOfOther(tenant, kustomization string) string {
	namespace, name, _ := strings.Cut(kustomization, "/")
	text := "Kustomization " + name
	if source, stamped := names.SourceOf(name); stamped {
		text = "source " + source
	}
	if namespace != tenant {
		text += " of " + namespace
	}
	return text
}

// look is what one pass sees of the Kustomizations around a tenant.
type look struct {
	*pass
	siblings map[string][]ownership.Sibling
	tenants  map[string][]string
	watched  map[client.ObjectKey]bool
	asked    map[client.ObjectKey]bool
	after    time.Duration
}

// settleOwnership finds what more than one source has, and moves what one has let go of
// and another one wants. It returns after how long to look again.
func (p *pass) settleOwnership(ctx context.Context) (time.Duration, error) {
	p.owned = map[string]owned{}
	l := &look{
		pass: p, siblings: map[string][]ownership.Sibling{}, tenants: map[string][]string{},
		watched: map[client.ObjectKey]bool{}, asked: map[client.ObjectKey]bool{},
	}
	for _, name := range sortedKeys(p.live.kustomizations) {
		k := p.live.kustomizations[name]
		if err := l.settleClaims(ctx, k); err != nil {
			return 0, err
		}
	}
	if err := l.claimedByOthers(ctx); err != nil {
		return 0, err
	}
	if err := l.standing(ctx); err != nil {
		return 0, err
	}
	for _, name := range sortedKeys(p.live.kustomizations) {
		if err := l.settleWaits(ctx, p.live.kustomizations[name]); err != nil {
			return 0, err
		}
	}
	p.claims.watch(p.tenant.Namespace, l.watched)
	return l.after, nil
}

// settleClaims looks at what one Kustomization of the tenant claims: another one wants it
// too, or has let go of it, and then Flux is asked to try again.
func (l *look) settleClaims(ctx context.Context, k *kustomizev1.Kustomization) error {
	for _, claim := range ownership.Claims(k) {
		l.watched[claim.Owner] = true
		owner, err := l.kustomization(ctx, claim.Owner)
		if err != nil {
			return err
		}
		self := client.ObjectKeyFromObject(k)
		keeps, err := l.keeps(ctx, owner, claim.Application, self)
		if err != nil {
			return err
		}
		switch {
		case keeps && (l.pruning(owner, claim.Application) || ownership.ClaimsFrom(owner, self)):
			// It is at it again, and has said before that it does not want it; or the two
			// exchange applications, and it is the other one's turn.
			l.takesOver(k, claim.Application)
			l.after = sooner(l.after, pendingInterval)
		case keeps:
			l.conflict(k.Name, claim.Application.String(), claim.Owner.String())
		default:
			l.takesOver(k, claim.Application)
			if err := l.ask(ctx, k, k.Status.LastHandledReconcileAt); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimedByOthers looks at who claims what a source of the tenant has.
func (l *look) claimedByOthers(ctx context.Context) error {
	var claimants kustomizev1.KustomizationList
	if err := l.Client.List(ctx, &claimants, client.MatchingFields{claimedFrom: l.tenant.Namespace}); err != nil {
		return fmt.Errorf("cannot list the Kustomizations that claim applications of %s: %w", l.tenant.Namespace, err)
	}
	for i := range claimants.Items {
		claimant := &claimants.Items[i]
		for _, claim := range ownership.Claims(claimant) {
			if claim.Owner.Namespace != l.tenant.Namespace {
				continue
			}
			owner := l.live.kustomizations[claim.Owner.Name]
			keeps, err := l.keeps(ctx, owner, claim.Application, client.ObjectKeyFromObject(claimant))
			if err != nil {
				return err
			}
			above, err := l.above(ctx, claim.Application.Namespace)
			if err != nil {
				return err
			}
			// Whoever cannot write there only says that it claims something.
			if keeps && slices.Contains(above, claimant.Namespace) && !l.pruning(owner, claim.Application) && !ownership.ClaimsFrom(owner, client.ObjectKeyFromObject(claimant)) {
				key := client.ObjectKeyFromObject(claimant)
				l.watched[key] = true
				l.conflict(owner.Name, claim.Application.String(), key.String())
			}
		}
	}
	return nil
}

// standing keeps the conflicts of before while one of the two is at it again: until it
// comes to something else, nothing has changed.
func (l *look) standing(ctx context.Context) error {
	for _, source := range l.tenant.Status.Sources {
		k := l.live.kustomizations[names.FluxObject(source.Name)]
		if !ownership.IsLive(k) {
			continue
		}
		for _, conflict := range source.Conflicts {
			namespace, name, _ := strings.Cut(conflict.With, "/")
			key := client.ObjectKey{Namespace: namespace, Name: name}
			other, err := l.kustomization(ctx, key)
			if err != nil {
				return err
			}
			if !ownership.IsLive(other) {
				continue
			}
			// The cache may have moved on since the claims were looked at.
			stands := isTrying(k) || isTrying(other) || claims(k, other, conflict.Application) || claims(other, k, conflict.Application)
			if stands && !l.letsGo(k, other, conflict.Application) {
				l.watched[key] = true
				l.conflict(k.Name, conflict.Application, conflict.With)
			}
		}
	}
	return nil
}

// claims says whether one Kustomization claims an application of another.
func claims(claimant, owner *kustomizev1.Kustomization, application string) bool {
	return slices.ContainsFunc(ownership.Claims(claimant), func(claim ownership.Claim) bool {
		return claim.Application.String() == application && claim.Owner == client.ObjectKeyFromObject(owner)
	})
}

func (l *look) letsGo(a, b *kustomizev1.Kustomization, application string) bool {
	for _, k := range []*kustomizev1.Kustomization{a, b} {
		for _, letGo := range pruneguard.LetGo(k) {
			if letGo.String() == application {
				return true
			}
		}
	}
	return false
}

// isTrying says whether Flux has not come to the end of an attempt.
func isTrying(k *kustomizev1.Kustomization) bool {
	ready := fluxstatus.ReadyCondition(k.Status.Conditions, k.Generation)
	return ready == nil || ready.Status == metav1.ConditionUnknown
}

// pruning says whether a source of this tenant is at an attempt again whose deletion of
// the application was held before.
func (l *look) pruning(k *kustomizev1.Kustomization, application pruneguard.Application) bool {
	if k.Namespace != l.tenant.Namespace || !isTrying(k) {
		return false
	}
	source, _ := names.SourceOf(k.Name)
	prune := l.prunes[source].Prune
	return prune != nil && slices.Contains(prune.Names, application.String())
}

// keeps says whether a Kustomization has an application, could have applied it, and has
// not let go of it.
func (l *look) keeps(ctx context.Context, owner *kustomizev1.Kustomization, application pruneguard.Application, claimant client.ObjectKey) (bool, error) {
	if owner == nil || !ownership.KeepsFrom(owner, application, claimant) {
		return false, nil
	}
	above, err := l.above(ctx, application.Namespace)
	return slices.Contains(above, owner.Namespace), err
}

func (l *look) conflict(kustomization, application, with string) {
	conflict := gitopsv1.ConflictStatus{Application: application, With: with}
	found := l.owned[kustomization]
	if slices.Contains(found.conflicts, conflict) {
		return
	}
	found.conflicts = append(found.conflicts, conflict)
	slices.SortFunc(found.conflicts, func(a, b gitopsv1.ConflictStatus) int {
		return strings.Compare(a.Application+" "+a.With, b.Application+" "+b.With)
	})
	found.conflicts = found.conflicts[:min(len(found.conflicts), maxConflicts)]
	l.owned[kustomization] = found
}

func (l *look) takesOver(k *kustomizev1.Kustomization, application pruneguard.Application) {
	found := l.owned[k.Name]
	found.takesOver = application.String()
	l.owned[k.Name] = found
}

// kustomization reads one from the cache; nil where it is not there.
func (l *look) kustomization(ctx context.Context, key client.ObjectKey) (*kustomizev1.Kustomization, error) {
	if key.Namespace == l.tenant.Namespace {
		return l.live.kustomizations[key.Name], nil
	}
	k := &kustomizev1.Kustomization{}
	if err := l.Client.Get(ctx, key, k); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read Kustomization %s: %w", key, err)
	}
	return k, nil
}

// above lists the tenants that may have something in a namespace.
func (l *look) above(ctx context.Context, namespace string) ([]string, error) {
	if known, ok := l.tenants[namespace]; ok {
		return known, nil
	}
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := l.Client.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read namespace %s: %w", namespace, err)
	}
	l.tenants[namespace] = l.Config.Tenancy.From(tenancy.Namespace{Name: ns.Name, Labels: ns.Labels})
	return l.tenants[namespace], nil
}

// ask asks Flux to try again, unless it has been asked and has not answered.
func (l *look) ask(ctx context.Context, obj client.Object, handled string) error {
	key := client.ObjectKey{Namespace: obj.GetNamespace(), Name: fmt.Sprintf("%T/%s", obj, obj.GetName())}
	asked, ok := meta.ReconcileAnnotationValue(obj.GetAnnotations())
	if l.asked[key] || ok && asked != handled {
		return nil
	}
	l.asked[key] = true
	return l.Applier.Request(ctx, obj, time.Now())
}

// artifactOf is what the source of a Kustomization of this tenant has fetched.
func (l *look) artifactOf(k *kustomizev1.Kustomization) *meta.Artifact {
	for _, source := range l.live.sources {
		if source.kind == k.Spec.SourceRef.Kind && source.object.GetName() == k.Spec.SourceRef.Name {
			return source.stored.Artifact
		}
	}
	return nil
}
