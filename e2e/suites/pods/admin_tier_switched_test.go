//go:build kind

package pods_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestAdminTierIsSwitchedOffAndOn installs the operator without the admin tier and with it again.
func TestAdminTierIsSwitchedOffAndOn(t *testing.T) {
	const name = "switched"
	account := enableAdmin(t, name, func(*gitopsv1.CustomizerSpec) {})
	t.Cleanup(func() {
		if t.Failed() {
			if err := stage.InstallOperator(t.Context()); err != nil {
				t.Log(err)
			}
		}
	})
	if err := stage.InstallWithoutAdminTier(t.Context()); err != nil {
		t.Fatal(err)
	}
	harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionFalse, gitopsv1.ReasonSwitchedOff)
	harness.AwaitExists(t, stage.Client, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: gitopsv1.CustomizerNamespace, Name: account}})

	if err := stage.InstallOperator(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	if again.Status.Account != account {
		t.Errorf("its account was %s and is %s", account, again.Status.Account)
	}
}
