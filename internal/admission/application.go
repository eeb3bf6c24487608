package admission

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	stamped "github.com/cozystack/gitops-operator/internal/stamp"
)

// Edit is somebody's change or deletion of an application.
type Edit struct {
	Namespace string
	// User and Groups of who writes.
	User   string
	Groups []string
	// Old as it is stored; Object as it would be, nil for one that is deleted.
	Old, Object *unstructured.Unstructured
}

// EditFacts are what a decision about an edit rests on.
type EditFacts struct {
	// Terminating: the application's namespace is being deleted.
	Terminating bool
	// Owner is the Kustomization that the stored object's labels name; nil where there
	// is none.
	Owner *kustomizev1.Kustomization
	// OwnerFromAbove: the owner is of the application's own namespace, or of a tenant
	// above it. No other may lay a hand on it, whatever its inventory says.
	OwnerFromAbove bool
	// Repository that the owner is fed from.
	Repository Repository
}

// Owner returns the Kustomization that the stored object's labels name, if any. The new
// object's labels do not count: the console's update has none, and whoever is to be kept
// out could leave them out.
func (e Edit) Owner() (key types.NamespacedName, named bool) {
	return ownership.Owner(e.Old.GetLabels())
}

// Claims says whether a git account is about to put other labels of an owner in the place
// of the stored ones: another Kustomization applies the application too. It does not
// matter whether it says that it only tries: the applications API writes all the same.
func (e Edit) Claims() bool {
	owner, named := e.Owner()
	if !named || e.Object == nil {
		return false
	}
	claimant, claims := ownership.Owner(e.Object.GetLabels())
	return claims && claimant != owner &&
		(e.ByGit() || e.User == serviceAccount(claimant.Namespace, names.GitAccount(claimant.Namespace)))
}

// ByGit says whether it is written by the git account of the Kustomization that the
// labels name.
func (e Edit) ByGit() bool {
	owner, named := e.Owner()
	return named && e.User == serviceAccount(owner.Namespace, names.GitAccount(owner.Namespace))
}

// Exempt says that it passes whatever manages the application: it is an admin's, the
// platform's or git's own, or it leaves all that git could have written as it is.
func (e Edit) Exempt(adminGroups []string) bool {
	_, named := e.Owner()
	return !named || isAdmin(e.Groups, adminGroups) || isPlatform(e.User) || e.ByGit() && !e.Claims() || e.keepsContent()
}

// keepsContent holds where nothing changes but the status and such metadata as
// controllers write: finalizers, owner references, managed fields. Labels and annotations
// are content: by some of them Flux would pass an object over.
func (e Edit) keepsContent() bool {
	return e.Object != nil && maps.Equal(e.Old.GetLabels(), e.Object.GetLabels()) &&
		maps.Equal(e.Old.GetAnnotations(), e.Object.GetAnnotations()) &&
		reflect.DeepEqual(content(e.Old), content(e.Object))
}

func content(object *unstructured.Unstructured) map[string]any {
	kept := maps.Clone(object.Object)
	delete(kept, "metadata")
	delete(kept, "status")
	return kept
}

// DecideEdit decides about an edit that is not exempt: an application that git manages
// is read-only for every other hand, which would only be reverted.
func DecideEdit(edit Edit, facts EditFacts) Verdict {
	if edit.Claims() {
		return decideClaim(edit, facts)
	}
	owner := facts.Owner
	switch {
	case facts.Terminating,
		owner == nil || !facts.OwnerFromAbove,
		// Its finalizer is at work, or nobody's: either way git lets go.
		!owner.DeletionTimestamp.IsZero(),
		// This is Flux's own way to edit by hand.
		owner.Spec.Suspend,
		edit.User == serviceAccount(owner.Namespace, owner.Spec.ServiceAccountName),
		!manages(owner, edit.Old):
		return Verdict{Outcome: LeftAlone}
	}
	mend := "change it in"
	if edit.Object == nil {
		mend = "remove it from"
	}
	return Verdict{Outcome: Refused, Message: fmt.Sprintf("%s %s is managed by git: %s %s; to edit it by hand, suspend %s first",
		strings.ToLower(edit.Old.GetKind()), edit.Old.GetName(), mend, facts.Repository.place(owner.Spec.Path), whatToSuspend(owner))}
}

// decideClaim decides about an application that a Kustomization applies and that has the
// labels of another one. Flux would take it over, the other one would take it back, and so
// on for ever: so the one that has it keeps it until it lets go of it.
func decideClaim(edit Edit, facts EditFacts) Verdict {
	owner, application := facts.Owner, applicationOf(edit.Old)
	claimant, _ := ownership.Owner(edit.Object.GetLabels())
	if facts.Terminating || owner == nil || !facts.OwnerFromAbove || !ownership.KeepsFrom(owner, application, claimant) {
		return Verdict{Outcome: LeftAlone}
	}
	claim := ownership.Claim{Application: application, Owner: types.NamespacedName{Namespace: owner.Namespace, Name: owner.Name}}
	return Verdict{Outcome: Refused, Message: claim.Refusal()}
}

func applicationOf(object *unstructured.Unstructured) pruneguard.Application {
	return pruneguard.Application{Namespace: object.GetNamespace(), Name: object.GetName(), Kind: object.GetKind()}
}

// manages says whether a Kustomization has applied an object. A label alone says nothing:
// Orphan leaves it behind, and anybody may write it.
func manages(owner *kustomizev1.Kustomization, object *unstructured.Unstructured) bool {
	if ownership.Has(owner, applicationOf(object)) {
		return true
	}
	// The inventory is written when all objects have been applied. What was created since
	// the Kustomization last told of its progress is taken for one of them until then.
	progress := apimeta.FindStatusCondition(owner.Status.Conditions, meta.ReconcilingCondition)
	if progress == nil || progress.Status != metav1.ConditionTrue || progress.Reason != meta.ProgressingReason {
		return false
	}
	created := object.GetCreationTimestamp()
	return !created.Before(&progress.LastTransitionTime)
}

// whatToSuspend is what a person has to suspend: the operator puts its own
// Kustomizations right again.
func whatToSuspend(owner *kustomizev1.Kustomization) string {
	if source := owner.Labels[stamped.SourceLabel]; source != "" {
		return fmt.Sprintf("the source %s of the TenantGitOps gitops in %s", source, owner.Namespace)
	}
	return fmt.Sprintf("the Kustomization %s in %s", owner.Name, owner.Namespace)
}
