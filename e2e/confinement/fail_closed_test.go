package confinement_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
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
	var found []string
	for _, policy := range policies.Items {
		if !strings.HasPrefix(policy.Name, "gitops-operator-") {
			continue
		}
		found = append(found, policy.Name)
		if policy.Spec.FailurePolicy == nil || *policy.Spec.FailurePolicy != admissionv1.Fail || !denied[policy.Name] {
			t.Errorf("%s does not deny", policy.Name)
		}
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s: %s: %s", policy.Name, warning.FieldRef, warning.Warning)
		}
	}
	files, err := manifests.DecodePaths(root + "/config/policies")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, object := range files {
		if object.GetObjectKind().GroupVersionKind().Kind == "ValidatingAdmissionPolicy" && strings.HasPrefix(object.GetName(), "gitops-operator-") {
			want = append(want, object.GetName())
		}
	}
	slices.Sort(want)
	if slices.Sort(found); len(want) == 0 || !slices.Equal(found, want) {
		t.Errorf("the policies of the operator are %v, want %v", found, want)
	}
}
