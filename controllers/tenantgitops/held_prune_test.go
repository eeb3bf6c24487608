package tenantgitops

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAskAgain holds that one which somebody has to mend is asked once, and one that only
// found the operator away for as long as that lasts.
func TestAskAgain(t *testing.T) {
	now := time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)
	owners := &meta.Artifact{LastUpdateTime: metav1.NewTime(now.Add(-time.Hour))}
	const (
		refused = `Postgres/tenant-acme/db dry-run failed (Forbidden): admission webhook "applications.gitops.cozystack.io" denied the request: Postgres/tenant-acme/db is applied by Kustomization tenant-acme/gitops-two already: remove it from one of the two`
		apply   = `Postgres/tenant-acme/db dry-run failed (InternalError): Internal error occurred: failed calling webhook "applied.gitops.cozystack.io": failed to call webhook: connection refused`
		edit    = `Postgres/tenant-acme/db dry-run failed (InternalError): Internal error occurred: failed calling webhook "applications.gitops.cozystack.io": failed to call webhook: connection refused`
		others  = `Postgres/tenant-acme/db dry-run failed (InternalError): Internal error occurred: failed calling webhook "applied.example.org": failed to call webhook: connection refused`
	)
	for name, tc := range map[string]struct {
		asked   time.Duration
		message string
		want    bool
	}{
		"not since the artifact":               {-2 * time.Hour, refused, true},
		"refused":                              {-time.Minute, refused, false},
		"nobody answered for the apply":        {-time.Minute, apply, true},
		"nobody answered for the edit":         {-time.Minute, edit, true},
		"nobody answered, and asked just now":  {-time.Second, apply, false},
		"somebody else's webhook did not work": {-time.Minute, others, false},
	} {
		k := &kustomizev1.Kustomization{}
		k.Annotations = map[string]string{meta.ReconcileRequestAnnotation: now.Add(tc.asked).Format(time.RFC3339Nano)}
		k.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: meta.ReconciliationFailedReason, Message: tc.message}}
		if got := askAgain(k, owners, now); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
	if !askAgain(&kustomizev1.Kustomization{}, owners, now) {
		t.Error("one that was never asked is not asked")
	}
}
