package ownership

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestOverdueIsWhatHasNotMoved: whatever has happened to a sibling lately, it is given its
// time anew.
func TestOverdueIsWhatHasNotMoved(t *testing.T) {
	now := time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)
	const grace, timeout = 5 * time.Minute, 2 * time.Minute
	long, short := now.Add(-grace-timeout-time.Second), now.Add(-grace-timeout+time.Second)
	at := func(moment time.Time) *meta.Artifact { return &meta.Artifact{LastUpdateTime: metav1.NewTime(moment)} }
	text := func(moment time.Time) string { return moment.Format(time.RFC3339Nano) }
	for name, tc := range map[string]struct {
		change func(o *Objection)
		owners *meta.Artifact
		want   bool
	}{
		"nothing has moved":                {func(*Objection) {}, at(long), true},
		"the owner has fetched just now":   {func(*Objection) {}, at(short), false},
		"the owner has fetched nothing":    {func(*Objection) {}, nil, true},
		"it is young":                      {func(o *Objection) { o.Kustomization.CreationTimestamp = metav1.NewTime(short) }, at(long), false},
		"its condition has changed":        {func(o *Objection) { o.Kustomization.Status.Conditions[0].LastTransitionTime = metav1.NewTime(short) }, at(long), false},
		"it has no condition":              {func(o *Objection) { o.Kustomization.Status.Conditions = nil }, at(long), true},
		"it was asked":                     {func(o *Objection) { o.Kustomization.Annotations[meta.ReconcileRequestAnnotation] = text(short) }, at(long), false},
		"it was asked long ago":            {func(o *Objection) { o.Kustomization.Annotations[meta.ReconcileRequestAnnotation] = text(long) }, at(long), true},
		"somebody asked in words":          {func(o *Objection) { o.Kustomization.Annotations[meta.ReconcileRequestAnnotation] = "now" }, at(long), true},
		"its source was asked":             {func(o *Objection) { o.Fetched.Requested = text(short) }, at(long), false},
		"its source has fetched":           {func(o *Objection) { o.Fetched.Artifact = at(short) }, at(long), false},
		"its source is gone":               {func(o *Objection) { o.Fetched = nil }, at(long), true},
		"its own timeout is not over":      {func(o *Objection) { o.Kustomization.Spec.Timeout.Duration = timeout + 2*time.Second }, at(long), false},
		"its timeout is that of a day":     {func(o *Objection) { o.Kustomization.Spec.Timeout.Duration = 24 * time.Hour }, at(now.Add(-2 * time.Hour)), true},
		"it claims, and never takes over":  {func(o *Objection) { o.Standing = Claiming }, at(long), true},
		"it is never fetched":              {func(o *Objection) { o.Standing = Unfetched }, at(long), true},
		"it fails, which is told of apart": {func(o *Objection) { o.Standing = Failing }, at(long), false},
	} {
		k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-48 * time.Hour)), Annotations: map[string]string{}}}
		k.Spec.Timeout = &metav1.Duration{Duration: timeout}
		moved := metav1.NewTime(now.Add(-3 * time.Hour))
		k.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: metav1.ConditionFalse, Reason: meta.DependencyNotReadyReason, LastTransitionTime: moved}}
		objection := Objection{Standing: Pending, Sibling: Sibling{Kustomization: k, Fetched: &Fetched{Artifact: at(moved.Time)}}}
		tc.change(&objection)
		if got := objection.IsOverdue(tc.owners, now, grace); got != tc.want {
			t.Errorf("%s: overdue is %t, want %t", name, got, tc.want)
		}
	}
}
