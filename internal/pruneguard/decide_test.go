package pruneguard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMoreThanHalfAndMoreThanTwoIsBlocked takes applications out of a repository.
func TestMoreThanHalfAndMoreThanTwoIsBlocked(t *testing.T) {
	for _, test := range []struct {
		before, removed int
		blocked         bool
	}{
		{before: 1, removed: 1}, {before: 2, removed: 2}, {before: 3, removed: 2}, {before: 3, removed: 1},
		{before: 3, removed: 3, blocked: true}, {before: 4, removed: 3, blocked: true}, {before: 5, removed: 3, blocked: true},
		{before: 6, removed: 3}, {before: 6, removed: 4, blocked: true}, {before: 7, removed: 4, blocked: true},
		{before: 10, removed: 1}, {before: 10, removed: 5}, {before: 10, removed: 6, blocked: true}, {before: 10, removed: 10, blocked: true},
		{before: 240, removed: 120}, {before: 240, removed: 121, blocked: true}, {before: 300, removed: 100},
	} {
		t.Run(fmt.Sprintf("%d of %d", test.removed, test.before), func(t *testing.T) {
			s := newSetup(t, test.before)
			s.flux("r2", names(test.removed, test.before)...)
			if test.before > Free {
				s.left(test.before)
			}
			d := s.operator()
			switch {
			case test.blocked:
				s.blocked(d, int64(test.removed), int64(test.before))
				s.flux("r2", names(test.removed, test.before)...)
				s.blocked(s.operator(), int64(test.removed), int64(test.before))
				s.left(test.before)
				s.confirm = "r2"
				s.granted(s.operator())
			case test.before > Free:
				s.granted(d)
				if d.Grant.Confirmed || len(d.Grant.Applications) != test.removed {
					t.Errorf("more is granted than is removed: %+v", d.Grant)
				}
			}
			s.flux("r2", names(test.removed, test.before)...)
			s.left(test.before - test.removed)
			s.quiet(s.operator())
		})
	}
}

// TestAddingDoesNotWeighUpWhatIsDeleted removes three of four and adds twenty: the added
// ones are in the inventory from the second attempt on.
func TestAddingDoesNotWeighUpWhatIsDeleted(t *testing.T) {
	wanted := names(3, 24)
	for _, missed := range []bool{false, true} {
		s := newSetup(t, 4)
		s.flux("r2", wanted...)
		if !missed {
			s.blocked(s.operator(), 3, 4)
		}
		s.flux("r2", wanted...)
		s.blocked(s.operator(), 3, 4)
		s.flux("r3", wanted...)
		s.blocked(s.operator(), 3, 4)
		s.left(24)
		s.flux("r4", append(wanted, names(0, 3)...)...)
		s.quiet(s.operator())
	}
}

// TestRevertHealsWithoutConfirmation, and so does a revision that removes less.
func TestRevertHealsWithoutConfirmation(t *testing.T) {
	s := newSetup(t, 10)
	s.flux("r2")
	s.blocked(s.operator(), 10, 10)
	s.flux("r3", names(0, 10)...)
	s.quiet(s.operator())
	s.left(10)

	s.flux("r4", names(7, 10)...)
	s.blocked(s.operator(), 7, 10)
	s.flux("r5", names(3, 10)...)
	s.granted(s.operator())
	s.flux("r5", names(3, 10)...)
	s.quiet(s.operator())
	s.left(7)
}

// TestConfirmationIsOfOneRevision: that of another says nothing, and that of this one
// counts for one prune.
func TestConfirmationIsOfOneRevision(t *testing.T) {
	s := newSetup(t, 10)
	s.confirm = "r1"
	s.flux("r2", names(9, 10)...)
	s.blocked(s.operator(), 9, 10)
	s.confirm = "r2"
	s.granted(s.operator())
	// A newer revision comes before the confirmed one is tried again.
	s.flux("r3")
	s.left(10)
	s.blocked(s.operator(), 10, 10)
	s.confirm = "r3"
	s.granted(s.operator())
	s.flux("r3")
	s.left(0)
	s.quiet(s.operator())

	// The same revision, with another path: it was confirmed for another prune.
	s.k.Generation++
	s.flux("r3", names(0, 10)...)
	s.quiet(s.operator())
	s.k.Generation++
	s.flux("r3", names(8, 10)...)
	d := s.operator()
	s.blocked(d, 8, 10)
	if !d.Spent || !strings.Contains(d.Message("apps"), "already") {
		t.Errorf("it is not said that the confirmation is spent: %s", d.Message("apps"))
	}
	s.confirm = ""
	s.blocked(s.operator(), 8, 10)
	s.confirm = "r3"
	s.granted(s.operator())
	s.flux("r3", names(8, 10)...)
	s.left(2)
	s.quiet(s.operator())
}

// TestConfirmationTakenBackGrantsNothing, while Flux has not tried yet.
func TestConfirmationTakenBackGrantsNothing(t *testing.T) {
	s := newSetup(t, 10)
	s.flux("r2")
	s.operator()
	s.confirm = "r2"
	s.granted(s.operator())
	s.confirm = ""
	s.blocked(s.operator(), 10, 10)
	s.flux("r2")
	s.left(10)
}

// TestGrantIsForTheSpecThatItWasGivenFor: another path prunes others.
func TestGrantIsForTheSpecThatItWasGivenFor(t *testing.T) {
	s := newSetup(t, 10)
	s.flux("r2", names(1, 10)...)
	s.granted(s.operator())
	s.k.Generation++
	s.flux("r2")
	s.left(10)
	s.blocked(s.operator(), 10, 10)
}

// TestGrantOfOneRevisionIsNotOfTheNext: the next one is counted anew.
func TestGrantOfOneRevisionIsNotOfTheNext(t *testing.T) {
	s := newSetup(t, 10)
	s.flux("r2", names(1, 10)...)
	s.granted(s.operator())
	s.flux("r3", names(9, 10)...)
	s.left(10)
	s.blocked(s.operator(), 9, 10)
}

// TestWhatOneRevisionDeletesInTwoGoesIsCountedTogether: the build of one revision can
// change, by a variable from elsewhere.
func TestWhatOneRevisionDeletesInTwoGoesIsCountedTogether(t *testing.T) {
	s := newSetup(t, 10)
	s.denied["app-000"] = true
	s.flux("r2", names(4, 10)...)
	s.granted(s.operator())
	s.flux("r2", names(4, 10)...)
	s.left(7)
	if d := s.operator(); d.Granted || d.Blocked || d.Grant == nil {
		t.Errorf("a deletion that is forbidden otherwise is not left to Flux: %+v", d)
	}
	s.flux("r2", names(7, 10)...)
	s.left(7)
	s.blocked(s.operator(), 7, 7)
}

// TestHeldAndForbiddenCountTogether: what fails for another reason would be deleted too.
func TestHeldAndForbiddenCountTogether(t *testing.T) {
	s := newSetup(t, 10)
	s.denied["app-000"], s.denied["app-001"] = true, true
	s.flux("r2", names(6, 10)...)
	s.blocked(s.operator(), 6, 10)
}

// TestDecisionOutlivesTheOperator: all of it is in the two objects, so a pass of another
// operator comes to the same and asks no second time.
func TestDecisionOutlivesTheOperator(t *testing.T) {
	s := newSetup(t, 10)
	s.flux("r2", names(1, 10)...)
	s.granted(s.operator())
	// Killed between the grant and the request: the next one asks.
	s.granted(s.operator())
	s.k.Annotations[meta.ReconcileRequestAnnotation] = "now"
	if d := Decide(Facts{Kustomization: s.k, Before: s.status}); d.Ask || !d.Granted || d.Grant == nil {
		t.Errorf("asked again, or the grant is gone: %+v", d)
	}
	// While Flux tries, the grant stands.
	setReady(s.k, metav1.ConditionUnknown, meta.ProgressingReason, "Reconciliation in progress")
	if d := Decide(Facts{Kustomization: s.k, Before: s.status}); d.Grant == nil || d.Ask || d.Prune == nil {
		t.Errorf("while Flux tries, the grant is gone: %+v", d)
	}
	s.flux("r2", names(1, 10)...)
	s.left(9)
	s.quiet(s.operator())
}

// TestStatusThatIsLostBlocksNoLess: a TenantGitOps that was made anew knows nothing.
func TestStatusThatIsLostBlocksNoLess(t *testing.T) {
	s := newSetup(t, 10)
	s.status = nil
	s.flux("r2", names(6, 10)...)
	s.blocked(s.operator(), 6, 10)
}

// TestStatusOfAnOlderRevisionDoesNotBlock: the operator was away when sources grew.
func TestStatusOfAnOlderRevisionDoesNotBlock(t *testing.T) {
	s := newSetup(t, 3)
	s.flux("r2", names(0, 100)...)
	s.flux("r3", names(5, 100)...)
	s.granted(s.operator())
}

// TestUnhealthySourceIsCountedByWhatItHas, not by what it had when it was healthy last.
func TestUnhealthySourceIsCountedByWhatItHas(t *testing.T) {
	for _, reason := range []string{meta.HealthCheckFailedReason, meta.HealthCheckCanceledReason} {
		s := newSetup(t, 3)
		unhealthy := func() {
			s.k.Status.LastAppliedRevision = "r1"
			setReady(s.k, metav1.ConditionFalse, reason, "timeout")
			s.quiet(s.operator())
		}
		s.flux("r2", names(0, 20)...)
		unhealthy()
		s.flux("r3", names(5, 20)...)
		s.granted(s.operator())
		s.flux("r3", names(5, 20)...)
		unhealthy()
		s.left(15)
	}
}

// TestReportThatIsCutOffIsNotGranted: 300 refusals do not fit into a condition.
func TestReportThatIsCutOffIsNotGranted(t *testing.T) {
	for _, total := range []int{300, 1000} {
		s := newSetup(t, total)
		wanted := names(300, total)
		s.flux("r2", wanted...)
		ready := apimeta.FindStatusCondition(s.k.Status.Conditions, meta.ReadyCondition)
		if len(ready.Message) != maxReport {
			t.Fatalf("the report has %d bytes: it is not cut off, and the test proves nothing", len(ready.Message))
		}
		d := s.operator()
		if !d.Blocked || !d.Incomplete || d.Prune.Applications < 120 || d.Prune.Applications > 300 || d.Prune.Of != int64(total) {
			t.Fatalf("of %d: %+v", total, d)
		}
		if message := d.Message("apps"); !strings.Contains(message, "at least ") || len(message) > 4096 {
			t.Errorf("the message is %s", message)
		}
		s.confirm = "r2"
		s.granted(s.operator())
		s.flux("r2", wanted...)
		s.left(total - 300)
		s.quiet(s.operator())
	}
}

// TestMessageSaysWhatToWrite, before anything that could be cut off.
func TestMessageSaysWhatToWrite(t *testing.T) {
	s := newSetup(t, 30)
	revision := "main@sha1:" + strings.Repeat("4c", 20)
	s.flux(revision, names(25, 30)...)
	d := s.operator()
	message := d.Message("apps")
	for _, part := range []string{"25 of 30", fmt.Sprintf("confirmPrune: %q", revision), "source apps", "Redis/tenant-acme/app-000", "and 5 more"} {
		if !strings.Contains(message, part) {
			t.Errorf("%q is not in: %s", part, message)
		}
	}
	if at := strings.Index(message, "revert"); at < 0 || at > 400 {
		t.Errorf("the mend comes too late: %s", message)
	}
	if len(d.Prune.Names) != 20 || !slices.IsSorted(d.Prune.Names) {
		t.Errorf("the status names %v", d.Prune.Names)
	}
}

// TestNothingIsDecidedOf what goes, is suspended or was not stamped for a source.
func TestNothingIsDecidedOf(t *testing.T) {
	for name, change := range map[string]func(*setup){
		"a Kustomization that is being deleted": func(s *setup) { s.k.DeletionTimestamp = &metav1.Time{} },
		"a suspended source":                    func(s *setup) { s.k.Spec.Suspend = true },
		"one that was written by hand":          func(s *setup) { s.k.Labels = nil },
		"a spec that was not tried yet":         func(s *setup) { s.k.Generation++ },
	} {
		s := newSetup(t, 10)
		s.flux("r2", names(9, 10)...)
		change(s)
		if s.k.DeletionTimestamp != nil {
			s.k.DeletionTimestamp.Time = metav1.Now().Time
		}
		s.confirm = "r2"
		if d := s.operator(); d.Granted || d.Blocked || d.Grant != nil || d.Ask {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := Decide(Facts{}); d.Grant != nil || d.Blocked {
		t.Errorf("without a Kustomization: %+v", d)
	}
}
