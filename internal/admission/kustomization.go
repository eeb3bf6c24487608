// Package admission decides what becomes of a Kustomization that is written into
// a tenant's namespace. It holds no client: a decision is a pure function of the
// request and of a few facts.
package admission

import (
	"fmt"
	"reflect"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/platform"
)

// Request is a Kustomization that somebody writes. Objects are unstructured, so
// that fields of a newer Flux are not lost.
type Request struct {
	// Namespace that is written to; the object need not name it.
	Namespace string
	// Object as it was sent; Old as it is stored, nil for one that is created.
	Object, Old *unstructured.Unstructured
	// Groups of who writes.
	Groups []string
}

// Facts that a decision rests on.
type Facts struct {
	// Tenant: the namespace is a tenant's.
	Tenant bool
	// HasTenantGitOps: there is a TenantGitOps in the namespace.
	HasTenantGitOps bool
	// AdminGroups are exempt.
	AdminGroups []string
}

// Outcome of a decision.
type Outcome string

// The outcomes.
const (
	// LeftAlone: the request passes as it is, whatever the object says.
	LeftAlone Outcome = "LeftAlone"
	// Stamped: the request passes with the verdict's object.
	Stamped Outcome = "Stamped"
	// Refused: the request does not pass.
	Refused Outcome = "Refused"
)

// Verdict is a decision.
type Verdict struct {
	Outcome Outcome
	// Object to be stored, where the outcome is Stamped.
	Object *unstructured.Unstructured
	// Message says what is wrong and what to do, where the outcome is Refused.
	Message string
}

// Decide decides about a Kustomization. It does not change the request.
func Decide(request Request, facts Facts) Verdict {
	if !facts.Tenant || isAdmin(request.Groups, facts.AdminGroups) || keepsWhatRuns(request) {
		return Verdict{Outcome: LeftAlone}
	}
	if !facts.HasTenantGitOps {
		return refuse(request, switchOnFirst(request.Namespace))
	}
	stamped, err := stamp(request)
	if err != nil {
		return refuse(request, fmt.Sprintf("%v: write it as the kind's schema says", err))
	}
	return Verdict{Outcome: Stamped, Object: stamped}
}

func refuse(request Request, why string) Verdict {
	return Verdict{Outcome: Refused, Message: fmt.Sprintf("kustomization %s: %s", request.Object.GetName(), why)}
}

// switchOnFirst says how a namespace comes to a TenantGitOps.
func switchOnFirst(namespace string) string {
	return fmt.Sprintf("namespace %s has no TenantGitOps, so nobody would reconcile it: create the TenantGitOps gitops in %s first, or ask an admin of the tenant to",
		namespace, namespace)
}

func isAdmin(groups, admins []string) bool {
	return slices.ContainsFunc(groups, func(group string) bool { return slices.Contains(admins, group) })
}

// keepsWhatRuns says that an update changes nothing about who reconciles the
// object, and as whom. Controllers write finalizers and annotations; what was
// there before the install goes on as it did, and what is being deleted can go,
// even where its TenantGitOps is gone already.
func keepsWhatRuns(request Request) bool {
	if request.Old == nil || !reflect.DeepEqual(request.Object.Object["spec"], request.Old.Object["spec"]) {
		return false
	}
	before, after := request.Old.GetLabels(), request.Object.GetLabels()
	if request.Old.GetDeletionTimestamp() != nil {
		was, had := before[platform.ShardLabel]
		is, has := after[platform.ShardLabel]
		return had == has && was == is
	}
	return len(before) == len(after) && (len(before) == 0 || reflect.DeepEqual(before, after))
}

// stamp returns the object with all that hands it to the tenant's own controller
// and account. The deletion policy is only defaulted: a tenant may choose.
func stamp(request Request) (*unstructured.Unstructured, error) {
	object := request.Object.DeepCopy()
	if err := unstructured.SetNestedField(object.Object, names.Shard(request.Namespace), "metadata", "labels", platform.ShardLabel); err != nil {
		return nil, fmt.Errorf("cannot set the label %s: %w", platform.ShardLabel, err)
	}
	if err := unstructured.SetNestedField(object.Object, names.GitAccount(request.Namespace), "spec", "serviceAccountName"); err != nil {
		return nil, fmt.Errorf("cannot set spec.serviceAccountName: %w", err)
	}
	if policy, found := object.Object["spec"].(map[string]any)["deletionPolicy"]; found && policy != nil && policy != "" {
		return object, nil
	}
	if err := unstructured.SetNestedField(object.Object, kustomizev1.DeletionPolicyOrphan, "spec", "deletionPolicy"); err != nil {
		return nil, fmt.Errorf("cannot set spec.deletionPolicy: %w", err)
	}
	return object, nil
}
