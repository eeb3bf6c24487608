package ownership

import (
	"fmt"
	"regexp"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// Claim is an application that a Kustomization wants and another one has.
type Claim struct {
	Application pruneguard.Application
	// Owner is the Kustomization that has it.
	Owner types.NamespacedName
}

// Refusal is why a Kustomization may not apply what it claims. Claims reads it again.
func (c Claim) Refusal() string {
	return fmt.Sprintf("%s is applied by Kustomization %s already: remove it from one of the two", c.Application, c.Owner)
}

// maxClaims bounds how many claims of one report are read. Flux stops at the first
// refusal, so that more than one are hardly ever there.
const maxClaims = 8

// claimed finds in Flux's report what was refused with Refusal. The API server's own
// words stand before it, and in them the webhook's name.
var claimed = regexp.MustCompile(`admission webhook "[a-z0-9.-]+" denied the request: ([A-Za-z0-9]{1,63})/([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253}) is applied by Kustomization ([a-z0-9.-]{1,253})/([a-z0-9.-]{1,253}) already: `)

// Claims are the claims that the last attempt of a Kustomization failed by.
//
// What a tenant's own manifests hold may be repeated in a report, so a claim may be
// forged. It says no more than that this Kustomization says it claims something: who
// believes it must look whether the Kustomization could, and whether the owner has it.
func Claims(k *kustomizev1.Kustomization) []Claim {
	if !IsLive(k) {
		return nil
	}
	ready := apimeta.FindStatusCondition(k.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != meta.ReconciliationFailedReason ||
		ready.ObservedGeneration < k.Generation || !strings.Contains(ready.Message, " is applied by Kustomization ") {
		return nil
	}
	self := types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
	var claims []Claim
	for _, match := range claimed.FindAllStringSubmatch(ready.Message, maxClaims) {
		claim := Claim{
			Application: pruneguard.Application{Kind: match[1], Namespace: match[2], Name: match[3]},
			Owner:       types.NamespacedName{Namespace: match[4], Name: match[5]},
		}
		if claim.Owner != self && MayWant(k, claim.Application.Namespace) {
			claims = append(claims, claim)
		}
	}
	return claims
}
