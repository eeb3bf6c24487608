package confinement_test

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestPoliciesFailClosed looks that an expression which cannot be evaluated refuses,
// that each policy is bound to deny, and that the API server finds no fault in its types.
func TestPoliciesFailClosed(t *testing.T) {
	var policies admissionv1.ValidatingAdmissionPolicyList
	harness.Await(t, "the types of all policies to be checked", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.List(ctx, &policies); err != nil {
			return false, err.Error()
		}
		for _, policy := range policies.Items {
			if policy.Status.ObservedGeneration != policy.Generation || policy.Status.TypeChecking == nil {
				return false, policy.Name
			}
		}
		return true, ""
	})
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := cluster.Client.List(t.Context(), &bindings); err != nil {
		t.Fatal(err)
	}
	denied := map[string]bool{}
	for _, binding := range bindings.Items {
		denied[binding.Spec.PolicyName] = len(binding.Spec.ValidationActions) == 1 && binding.Spec.ValidationActions[0] == admissionv1.Deny
	}
	found := 0
	for _, policy := range policies.Items {
		if !strings.HasPrefix(policy.Name, "gitops-operator-") {
			continue
		}
		found++
		if policy.Spec.FailurePolicy == nil || *policy.Spec.FailurePolicy != admissionv1.Fail || !denied[policy.Name] {
			t.Errorf("%s does not deny", policy.Name)
		}
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s: %s: %s", policy.Name, warning.FieldRef, warning.Warning)
		}
	}
	if found != 12 {
		t.Errorf("%d policies of the operator found, want 12", found)
	}
}
