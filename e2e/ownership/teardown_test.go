package ownership_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/ownership"
)

// TestTeardownGoesOnWhereLabelsCannotBeTakenOff: what only tidies up holds neither a
// TenantGitOps nor its namespace. Here somebody's policy refuses it for good.
func TestTeardownGoesOnWhereLabelsCannotBeTakenOff(t *testing.T) {
	t.Parallel()
	const namespace = "tenant-stuckdown"
	repository, commit := newTenant(t, namespace, start("cache"))
	write(t, namespace, folder(t, namespace, "one", repository))
	awaitApplied(t, namespace, "one", commit)
	refuseToFree(t, namespace)

	tenant := harness.Read(t, cluster.Client, namespace)
	if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenant)
	var events eventsv1.EventList
	if err := cluster.Client.List(t.Context(), &events, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	told := false
	for _, event := range events.Items {
		told = told || event.Reason == gitopsv1.ReasonOwnerLabelsLeft && strings.Contains(event.Note, namespace)
	}
	if !told {
		t.Errorf("nobody is told: %v", events.Items)
	}
	left := redis(t, namespace, "cache")
	if owner, _ := ownership.Owner(left.GetLabels()); owner.Name != "gitops-one" {
		t.Errorf("the labels are those of %q: the policy did not refuse", owner)
	}
	wantFree(t, left)
}

// refuseToFree lets nobody take Flux's labels off the caches of a namespace.
func refuseToFree(t *testing.T, namespace string) {
	t.Helper()
	forbidden := metav1.StatusReasonForbidden
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{fixtures.Group}, APIVersions: []string{fixtures.Version}, Resources: []string{"redises"},
					},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("request.namespace != '%s' || request.userInfo.username != 'system:serviceaccount:cozy-gitops:gitops-operator' && object.metadata.name != 'probe'", namespace),
				Reason:     &forbidden,
			}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	for _, obj := range []client.Object{policy, binding} {
		if err := cluster.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := cluster.Client.Delete(context.Background(), obj); err != nil {
				t.Error(err)
			}
		})
	}
	probe := fixtures.Application("Redis", namespace, "probe")
	harness.Await(t, "the policy to refuse", func(ctx context.Context) (bool, string) {
		// Written for real: where a dry-run writes, the next one would only find it there.
		err := cluster.Client.Create(ctx, probe.DeepCopy())
		if err == nil {
			err = cluster.Client.Delete(ctx, probe)
			return false, fmt.Sprint("it lets writes through: ", err)
		}
		return apierrors.IsForbidden(err) || strings.Contains(err.Error(), policy.Name), err.Error()
	})
}
