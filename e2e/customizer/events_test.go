package customizer_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestEachStateIsToldOnce: applied, failed and applied again are three events, and what Flux does
// at its intervals is none.
func TestEachStateIsToldOnce(t *testing.T) {
	t.Parallel()
	const name = "told"
	c, repository := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme.told")})
	create(t, c)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	push(t, name, repository, map[string]string{"b.yaml": "a: [\n"})
	awaitState(t, name, metav1.ConditionFalse, "BuildFailed")
	commit := push(t, name, repository, nil, "b.yaml")
	awaitApplied(t, name, commit)
	for range 3 {
		before := read(t, name).Status.LastHandledReconcileAt
		request(t, name)
		harness.Await(t, "another reconciliation", func(context.Context) (bool, string) {
			now := read(t, name).Status.LastHandledReconcileAt
			return now != before, now
		})
		awaitApplied(t, name, commit)
	}
	harness.Await(t, "two events of success and one of failure", func(ctx context.Context) (bool, string) {
		succeeded, failed := eventsOf(ctx, t, name, gitopsv1.ReasonSucceeded), eventsOf(ctx, t, name, "BuildFailed")
		return len(succeeded) == 2 && len(failed) == 1, fmt.Sprint(succeeded, failed)
	})
}

// TestNameTaken: nothing of somebody else's is taken over, and the Customizer goes on when it is
// gone.
func TestNameTaken(t *testing.T) {
	const name, account = "taken", "cozystack-customizer-taken"
	harness.Await(t, "no Customizer of an earlier test", func(ctx context.Context) (bool, string) {
		var list gitopsv1.CustomizerList
		err := cluster.Client.List(ctx, &list)
		return err == nil && len(list.Items) == 0, fmt.Sprint(len(list.Items), err)
	})
	// The first account is not free, or this Customizer might have it.
	first, _ := newCustomizer(t, "taken-first", map[string]string{"a.yaml": packageValues("acme.taken-first")})
	create(t, first)
	awaitState(t, first.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	theirs := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: account}}
	if err := cluster.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme.taken")})
	create(t, c)
	awaitState(t, name, metav1.ConditionFalse, gitopsv1.ReasonNameTaken, account)
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: account}, &rbacv1.ClusterRoleBinding{}); err == nil {
		t.Error("somebody else's account was given rights")
	}
	if err := cluster.Client.Delete(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	request(t, name)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
}
