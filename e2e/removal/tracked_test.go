package removal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestTooMuchToRememberIsToldOf applies more keys than the annotation holds: the application
// is applied all the same and nothing leaves it, which a condition says until it fits again.
// Where managed fields are stored nothing of that happens.
func TestTooMuchToRememberIsToldOf(t *testing.T) {
	operator.AwaitReady(t)
	const tenant = "tenant-toomuch"
	remembers := cluster.Applications() != embedded.AggregatedApplications
	sources := newTwoSources(t, tenant)
	commit := func(keys int, password string) {
		parameters := map[string]any{}
		for i := range keys {
			parameters[fmt.Sprintf("a_parameter_with_a_long_name_%d", i)] = "on"
		}
		spec := map[string]any{"parameters": parameters}
		if password != "" {
			spec["password"] = password
		}
		sources.commit(t, 0, map[string]string{"apps/db.yaml": fixtures.Manifest("Postgres", "db", spec)})
	}
	hasPassword := func() bool {
		_, has := read(t, tenant, "db").Spec["password"]
		return has
	}
	commit(1500, "a")
	awaitTracked(t, tenant, !remembers)
	commit(1500, "")
	if hasPassword() == remembers {
		t.Errorf("a key that left git stays: %t, while all that git applies is remembered: %t", hasPassword(), remembers)
	}

	// It begins as with an adoption.
	commit(2, "b")
	awaitTracked(t, tenant, false)
	commit(2, "")
	if hasPassword() {
		t.Error("a key that left git stays, when all that git applies is remembered again")
	}
}

// awaitTracked waits until the condition names the application, or is not there.
func awaitTracked(t *testing.T, tenant string, off bool) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("removal to be off: %t", off), func(context.Context) (bool, string) {
		object := harness.Read(t, cluster.Client, tenant)
		condition := apimeta.FindStatusCondition(object.Status.Conditions, gitopsv1.RemovalTrackedCondition)
		if condition == nil {
			return !off, "no condition"
		}
		named := condition.Status == metav1.ConditionFalse && condition.Reason == gitopsv1.ReasonRemovalOff && strings.Contains(condition.Message, "postgres db")
		return off && named, condition.Message
	})
}
