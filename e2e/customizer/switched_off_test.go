package customizer_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSwitchedOff: an operator without the admin tier says so and stamps nothing; what was
// stamped stays; and with the tier a Customizer goes on where it was.
func TestSwitchedOff(t *testing.T) {
	stopOperator(t)
	startOperator(t)
	before, _ := newCustomizer(t, "off-before", map[string]string{"a.yaml": packageValues("acme.off-before")})
	create(t, before)
	account := awaitState(t, before.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	stopForNow(t)

	var err error
	if operator, err = harness.Start(t.Context(), cluster, harness.Config(), nil); err != nil {
		t.Fatal(err)
	}
	operator.AwaitReady(t)
	meanwhile, _ := newCustomizer(t, "off-meanwhile", map[string]string{"a.yaml": packageValues("acme.off-meanwhile")})
	create(t, meanwhile)
	awaitState(t, meanwhile.Name, metav1.ConditionFalse, gitopsv1.ReasonSwitchedOff, "install config/customizer")
	awaitState(t, before.Name, metav1.ConditionFalse, gitopsv1.ReasonSwitchedOff)
	harness.Await(t, "one event", func(ctx context.Context) (bool, string) {
		return len(eventsOf(ctx, t, meanwhile.Name, gitopsv1.ReasonSwitchedOff)) == 1, "none, or more"
	})
	if left := leftovers(t, meanwhile.Name); len(left) > 0 {
		t.Errorf("stamped are %v", left)
	}
	if len(leftovers(t, before.Name)) == 0 {
		t.Error("what was stamped is gone")
	}
	stopForNow(t)

	startOperator(t)
	for _, c := range []client.Object{before, meanwhile} {
		awaitState(t, c.GetName(), metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	}
	if now := read(t, before.Name).Status.Account; now != account {
		t.Errorf("its account was %s and is %s", account, now)
	}
}
