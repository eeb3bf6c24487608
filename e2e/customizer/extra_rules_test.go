package customizer_test

import (
	"context"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// TestExtraRules: the operator grants what it was given, says how to give it more, names what
// the cluster does not serve, and takes the rules back.
func TestExtraRules(t *testing.T) {
	t.Parallel()
	const name = "extra"
	schemas := gitopsv1.ExtraRule{APIGroups: []string{"flowcontrol.apiserver.k8s.io"}, Resources: []string{"flowschemas"}, Verbs: []string{"get", "create", "patch", "delete"}}
	mistyped := gitopsv1.ExtraRule{APIGroups: []string{"apps.example.org"}, Resources: []string{"widgets/status"}, Verbs: []string{"patch"}}
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata: {name: acme-extra}\nspec: {priorityLevelConfiguration: {name: catch-all}}\n"})
	c.Spec.RBAC.ExtraRules = []gitopsv1.ExtraRule{schemas, mistyped}
	create(t, c)
	awaitState(t, name, metav1.ConditionFalse, gitopsv1.ReasonRulesNotHeld, "flowschemas", "widgets/status", customizer.GrantableLabel+"=true")

	grantable := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "grantable-flowschemas", Labels: map[string]string{customizer.GrantableLabel: "true"}},
		Rules:      []rbacv1.PolicyRule{schemas.PolicyRule(), mistyped.PolicyRule()},
	}
	if err := cluster.Client.Create(t.Context(), grantable); err != nil {
		t.Fatal(err)
	}
	// Roles are put together some moments later, and nobody tells the operator.
	harness.Await(t, "the extra rules to be granted", func(context.Context) (bool, string) {
		request(t, name)
		ready := apimeta.FindStatusCondition(read(t, name).Status.Conditions, "Ready")
		return ready.Reason != gitopsv1.ReasonRulesNotHeld, ready.Reason + ": " + ready.Message
	})
	applied := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	if !slices.Contains(applied.Status.UnresolvedRules, "widgets.apps.example.org") {
		t.Errorf("unresolved are %v", applied.Status.UnresolvedRules)
	}
	resolved := apimeta.FindStatusCondition(applied.Status.Conditions, gitopsv1.RulesResolvedCondition)
	if resolved == nil || resolved.Status != metav1.ConditionFalse || resolved.Reason != gitopsv1.ReasonRulesUnresolved {
		t.Errorf("the condition is %+v", resolved)
	}

	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.RBAC.ExtraRules = nil })
	extra := client.ObjectKey{Name: customizer.ExtraRole(applied.Status.Account)}
	for _, o := range []client.Object{&rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRole{}} {
		o.SetName(extra.Name)
		harness.AwaitGone(t, cluster.Client, o)
	}
}
