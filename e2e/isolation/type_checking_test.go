package isolation_test

import (
	"context"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// The API server checks each expression against the schemas of the kinds it is about; that
// it stores the policies at all says that they are within its limits of cost.
func TestPoliciesAreOfTheRightTypes(t *testing.T) {
	for _, name := range []string{"gitops-tenant-kustomizations", "gitops-tenant-gitrepositories", "gitops-tenant-ocirepositories", "gitops-tenant-other-sources", "gitops-tenantgitops-hosts"} {
		policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
		harness.Await(t, "the check of "+name, func(ctx context.Context) (bool, string) {
			if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, policy); err != nil {
				return false, err.Error()
			}
			return policy.Status.ObservedGeneration == policy.Generation && policy.Status.TypeChecking != nil, fmt.Sprint(policy.Status)
		})
		for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
			for _, version := range rule.APIVersions {
				if version == "*" {
					t.Errorf("%s: a rule for all versions is not checked at all", name)
				}
			}
		}
		for _, warning := range policy.Status.TypeChecking.ExpressionWarnings {
			t.Errorf("%s: %s: %s", name, warning.FieldRef, warning.Warning)
		}
	}
}
