package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// refuse lays in a policy that refuses what does not fulfil the expression, with a
// message, in one namespace, and waits until it is heeded.
func refuse(t *testing.T, namespace, expression, message string, operations ...admissionregistrationv1.OperationType) {
	t.Helper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace + ".example.org"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: operations,
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{fixtures.Group}, APIVersions: []string{"*"}, Resources: []string{"postgreses"}},
				},
			}}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "namespace", Expression: fmt.Sprintf("request.namespace == %q", namespace)}},
			Validations:     []admissionregistrationv1.Validation{{Expression: expression, MessageExpression: message}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	for _, object := range []client.Object{policy, binding} {
		create(t, object)
		t.Cleanup(func() {
			if err := cluster.Client.Delete(context.Background(), object); err != nil {
				t.Error(err)
			}
		})
	}
}

// userClient is a person who may do everything with applications.
func userClient(t *testing.T, user string) client.Client {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: fixtures.TenantRole + ":super-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	if err := manifests.Apply(t.Context(), cluster.Client, binding); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.UserConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	own, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// awaitRefusal repeats an attempt until it is refused by admission, with a text.
func awaitRefusal(t *testing.T, part string, attempt func() error) {
	t.Helper()
	harness.Await(t, "a refusal with "+part, func(context.Context) (bool, string) {
		err := attempt()
		refused := apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
		return refused && strings.Contains(err.Error(), part), fmt.Sprint(err)
	})
}

func TestPoliciesSeeTheRealUserAndTheOldObject(t *testing.T) {
	const namespace = "tenant-policy"
	newTenant(t, namespace)
	refuse(t, namespace, `object.metadata.labels[?'team'].orValue('') == oldObject.metadata.labels[?'team'].orValue('')`,
		`request.userInfo.username + ' may not move ' + oldObject.metadata.labels.team`, admissionregistrationv1.Update)
	object := postgres(namespace, "db", map[string]any{"size": "1Gi"})
	object.SetLabels(map[string]string{"team": "a"})
	create(t, object)
	person := userClient(t, "somebody")
	// What passes before the policy is known has moved it.
	other := map[string]string{"a": "b", "b": "a"}
	harness.Await(t, "a refusal with the user's name and the stored label", func(context.Context) (bool, string) {
		team := read(t, namespace, "db").GetLabels()["team"]
		moved := postgres(namespace, "db", map[string]any{"size": "1Gi"})
		moved.SetLabels(map[string]string{"team": other[team]})
		err := person.Update(t.Context(), moved)
		return err != nil && strings.Contains(err.Error(), "somebody may not move "+team), fmt.Sprint(err)
	})
	object = read(t, namespace, "db")
	object.Object["spec"] = map[string]any{"size": "2Gi"}
	if err := person.Update(t.Context(), object); err != nil {
		t.Errorf("what no policy refuses: %v", err)
	}
}

func TestPoliciesSeeThatADryRunIsOne(t *testing.T) {
	const namespace = "tenant-dryrunseen"
	newTenant(t, namespace)
	refuse(t, namespace, `request.dryRun != true`, `'this was a dry run'`, admissionregistrationv1.Create)
	awaitRefusal(t, "this was a dry run", func() error {
		return cluster.Client.Create(t.Context(), postgres(namespace, "db", nil), client.DryRunAll)
	})
	err := cluster.Client.Create(t.Context(), postgres(namespace, "other", nil))
	if err != nil {
		t.Errorf("what is no dry run: %v", err)
	}
}

func TestPoliciesSeeWhatAnApplyHolds(t *testing.T) {
	const namespace = "tenant-applied"
	newTenant(t, namespace)
	refuse(t, namespace, `!object.metadata.managedFields.exists(f, f.manager == 'kustomize-controller' && f.operation == 'Apply' && 'f:size' in f.fieldsV1[?'f:spec'].orValue({}))`,
		`'size was applied'`, admissionregistrationv1.Create, admissionregistrationv1.Update)
	mustApply(t, postgres(namespace, "db", map[string]any{"replicas": int64(3)}))
	awaitRefusal(t, "size was applied", func() error {
		return apply(t, postgres(namespace, "db", map[string]any{"size": "1Gi"}), client.ForceOwnership)
	})
}

func TestPoliciesSeeTheApplicationThatIsDeleted(t *testing.T) {
	const namespace = "tenant-deleted"
	newTenant(t, namespace)
	refuse(t, namespace, `oldObject.spec.size != '1Gi'`, `'a small ' + oldObject.kind`, admissionregistrationv1.Delete)
	awaitRefusal(t, "a small Postgres", func() error {
		object := postgres(namespace, "db", map[string]any{"size": "1Gi"})
		if err := cluster.Client.Create(t.Context(), object); err != nil && !strings.Contains(err.Error(), "already exists") {
			return err
		}
		return cluster.Client.Delete(t.Context(), object)
	})
}

func TestUsersNeedRightsToApplicationsOnly(t *testing.T) {
	newTenant(t, "tenant-rights")
	config, err := cluster.UserConfig("nobody")
	if err != nil {
		t.Fatal(err)
	}
	nobody, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	if err := nobody.Create(t.Context(), postgres("tenant-rights", "db", nil)); !apierrors.IsForbidden(err) {
		t.Errorf("somebody without rights: %v, want forbidden", err)
	}
	person := userClient(t, "rightful")
	harness.Await(t, "rights to applications", func(ctx context.Context) (bool, string) {
		err := person.Create(ctx, postgres("tenant-rights", "db", nil))
		return err == nil, fmt.Sprint(err)
	})
	release := stored(t, "Postgres", "tenant-rights", "db")
	if err := person.Get(t.Context(), client.ObjectKeyFromObject(release), release); !apierrors.IsForbidden(err) {
		t.Errorf("reading the release: %v, want forbidden", err)
	}
}
