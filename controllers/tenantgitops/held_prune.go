package tenantgitops

import (
	"context"
	"fmt"
	"regexp"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// pendingInterval is after how long a deletion is looked at again that waits for another
// tenant's source; what happens in the tenant itself is seen at once.
const pendingInterval = 5 * time.Second

// settleWaits sees to what the deletions of one Kustomization wait for: repositories of
// other sources that may have news are fetched, who claims an application takes it over,
// and when nobody can want any of them, Flux is asked to delete them.
func (l *look) settleWaits(ctx context.Context, k *kustomizev1.Kustomization) error {
	waiting := pruneguard.Waits(k)
	if len(waiting) == 0 || !ownership.IsLive(k) {
		return nil
	}
	var open bool
	for _, application := range waiting {
		siblings, err := l.siblingsIn(ctx, application.Namespace)
		if err != nil {
			return err
		}
		var others []ownership.Sibling
		for _, sibling := range siblings {
			if sibling.Kustomization.UID != k.UID {
				others = append(others, sibling)
			}
		}
		for _, objection := range ownership.Objections(application, k, l.artifactOf(k), others) {
			open = true
			if err := l.meet(ctx, k, objection); err != nil {
				return err
			}
		}
	}
	if open || l.released() {
		return nil
	}
	// One after the other: two that try at once would each wait for the other.
	l.asked[released] = true
	return l.ask(ctx, k, k.Status.LastHandledReconcileAt)
}

// released stands for the one Kustomization of a pass that was asked to prune.
var released = client.ObjectKey{Name: "released"}

func (l *look) released() bool { return l.asked[released] }

// meet does what can be done about an objection.
func (l *look) meet(ctx context.Context, k *kustomizev1.Kustomization, objection ownership.Objection) error {
	other := objection.Kustomization
	key := client.ObjectKeyFromObject(other)
	l.watched[key] = true
	if objection.IsOverdue(l.artifactOf(k), time.Now(), l.Config.SiblingGrace) {
		l.heldBy(k, key, holderOverdue)
	}
	switch objection.Standing {
	case ownership.Claiming:
		return l.ask(ctx, other, other.Status.LastHandledReconcileAt)
	case ownership.Unfetched:
		l.after = sooner(l.after, pendingInterval)
		return l.fetch(ctx, other)
	case ownership.Failing:
		l.after = sooner(l.after, refusedInterval)
		l.heldBy(k, key, holderFails)
		if askAgain(other, l.artifactOf(k), time.Now()) {
			l.after = sooner(l.after, pendingInterval)
			return l.ask(ctx, other, other.Status.LastHandledReconcileAt)
		}
	default:
		l.after = sooner(l.after, pendingInterval)
	}
	return nil
}

// heldBy notes whom somebody has to see to, so that the deletions of a Kustomization go on;
// the first of several is told of.
func (l *look) heldBy(k *kustomizev1.Kustomization, other client.ObjectKey, state string) {
	found := l.owned[k.Name]
	if found.holder.name == "" {
		found.holder = holder{name: nameOfOther(l.tenant.Namespace, other.String()), state: state}
		l.owned[k.Name] = found
	}
}

// askAgain says whether one that fails is to try once more before somebody is told to mend
// it: once after what is to be deleted was fetched, and for as long as it is the operator
// itself that did not answer, since Flux may come back to it a day later.
func askAgain(k *kustomizev1.Kustomization, owners *meta.Artifact, now time.Time) bool {
	value, _ := meta.ReconcileAnnotationValue(k.Annotations)
	asked, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || owners != nil && asked.Before(owners.LastUpdateTime.Time) {
		return true
	}
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	return ready != nil && unanswered.MatchString(ready.Message) && now.Sub(asked) > pendingInterval
}

// unanswered is what the API server says where one of the operator's webhooks could not be
// reached. What a webhook has refused is none of this: it would be refused again, every few
// seconds for as long as nobody mends it.
var unanswered = regexp.MustCompile(`failed calling webhook "[a-z]+\.gitops\.cozystack\.io"`)

// fetch asks for the repository of a Kustomization to be fetched.
func (l *look) fetch(ctx context.Context, k *kustomizev1.Kustomization) error {
	key := client.ObjectKey{Namespace: k.Namespace, Name: k.Spec.SourceRef.Name}
	var source client.Object
	var handled *string
	if k.Spec.SourceRef.Kind == sourcev1.OCIRepositoryKind {
		oci := &sourcev1.OCIRepository{}
		source, handled = oci, &oci.Status.LastHandledReconcileAt
	} else {
		git := &sourcev1.GitRepository{}
		source, handled = git, &git.Status.LastHandledReconcileAt
	}
	if err := l.Client.Get(ctx, key, source); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("cannot read the source of Kustomization %s/%s: %w", k.Namespace, k.Name, err)
	}
	return l.ask(ctx, source, *handled)
}

// siblingsIn are all live Kustomizations that could want something in a namespace.
func (l *look) siblingsIn(ctx context.Context, namespace string) ([]ownership.Sibling, error) {
	if known, ok := l.siblings[namespace]; ok {
		return known, nil
	}
	above, err := l.above(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var siblings []ownership.Sibling
	for _, tenant := range above {
		var kustomizations kustomizev1.KustomizationList
		var git sourcev1.GitRepositoryList
		var oci sourcev1.OCIRepositoryList
		for _, list := range []client.ObjectList{&kustomizations, &git, &oci} {
			if err := l.Client.List(ctx, list, client.InNamespace(tenant)); err != nil {
				return nil, fmt.Errorf("cannot list %T of %s: %w", list, tenant, err)
			}
		}
		fetched := ownership.FetchedBy(git.Items, oci.Items)
		for _, k := range ownership.Wanting(kustomizations.Items, namespace) {
			siblings = append(siblings, ownership.Sibling{Kustomization: k, Fetched: fetched.Of(k)})
		}
	}
	l.siblings[namespace] = siblings
	return siblings, nil
}
