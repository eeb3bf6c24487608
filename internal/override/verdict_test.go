package override_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
)

func TestWhatIsMissing(t *testing.T) {
	whole := snapshotOf(``, &cozyv1.ComponentValues{})
	if verdict, ok := whole.Missing("acme.shop"); !ok || verdict.Reason != "" {
		t.Errorf("nothing is missing: %+v", verdict)
	}
	noPackage, noSource, noVariant := whole, whole, snapshotOf(``, nil)
	noPackage.Package, noSource.Source, noVariant.Package.Spec.Variant = nil, nil, "large"
	for _, c := range []struct {
		what          string
		snapshot      override.Snapshot
		reason, words string
	}{
		{"no Package", noPackage, cozyv1.ReasonPackageNotFound, "there is no Package acme.shop"},
		{"neither", override.Snapshot{}, cozyv1.ReasonPackageNotFound, "for the Package of its own name"},
		{"no PackageSource", noSource, cozyv1.ReasonPackageSourceNotFound, "there is no PackageSource acme.shop"},
		{"no variant", noVariant, cozyv1.ReasonPackageSourceNotFound, "does not have the variant of the Package, so its components are not known: it has default"},
	} {
		verdict, ok := c.snapshot.Missing("acme.shop")
		if ok || verdict.Ready != metav1.ConditionFalse || verdict.Reason != c.reason || verdict.Stalled ||
			!strings.Contains(verdict.Message, c.words) || verdict.Event != verdict.Message {
			t.Errorf("%s: %+v", c.what, verdict)
		}
	}
}

func TestVerdict(t *testing.T) {
	succeeded := cozyv1.ComponentStatus{Name: "ok", Ready: "True", Reason: cozyv1.ReasonSucceeded, Message: "fine", Release: "a/ok"}
	absent := cozyv1.ComponentStatus{Name: "absent", Ready: "False", Reason: cozyv1.ReasonComponentNotFound, Message: "not there"}
	waits := cozyv1.ComponentStatus{Name: "waits", Ready: "Unknown", Reason: cozyv1.ReasonReleaseNotFound, Message: "not yet", Release: "a/waits"}
	failed := cozyv1.ComponentStatus{Name: "failed", Ready: "False", Reason: cozyv1.ReasonReleaseFailed, Message: "broken", Release: "a/failed"}
	invalid := cozyv1.ComponentStatus{Name: "invalid", Ready: "False", Reason: cozyv1.ReasonInvalidValues, Message: "no map"}
	own := cozyv1.ComponentStatus{Name: "own", Ready: "False", Reason: cozyv1.ReasonOperatorsOwn, Message: "ours", Release: "a/own"}
	idle := cozyv1.ComponentStatus{Name: "idle", Ready: "True", Reason: cozyv1.ReasonComponentNotInstalled, Message: "off"}
	for _, c := range []struct {
		what       string
		suspend    bool
		components []cozyv1.ComponentStatus
		want       override.Verdict
		releases   string
	}{
		{"all well", false, []cozyv1.ComponentStatus{succeeded, idle}, override.Verdict{Ready: "True", Reason: "Succeeded", Message: "2 of 2 components have their values"}, "1/1"},
		{"one absent keeps the others from nothing", false, []cozyv1.ComponentStatus{absent, succeeded}, override.Verdict{Ready: "True", Reason: "Succeeded", Message: "1 of 2 components have their values; absent: not there"}, "1/1"},
		{"all absent", false, []cozyv1.ComponentStatus{absent}, override.Verdict{Ready: "False", Reason: "ComponentNotFound", Message: "absent: not there"}, "0/0"},
		{"one on its way", false, []cozyv1.ComponentStatus{absent, succeeded, waits}, override.Verdict{Ready: "Unknown", Reason: "Progressing", Message: "waits: not yet; absent: not there"}, "1/2"},
		{"a failure before what is on its way", false, []cozyv1.ComponentStatus{waits, failed, absent}, override.Verdict{Ready: "False", Reason: "ReleaseFailed", Message: "failed: broken; absent: not there", Event: "failed: release a/failed failed: the status says why; absent: not there"}, "0/2"},
		{"the first failure gives the reason, the second one stalls", false, []cozyv1.ComponentStatus{failed, invalid}, override.Verdict{Ready: "False", Reason: "ReleaseFailed", Message: "failed: broken; invalid: no map", Event: "failed: release a/failed failed: the status says why; invalid: no map", Stalled: true}, "0/1"},
		{"not to be merged", false, []cozyv1.ComponentStatus{invalid}, override.Verdict{Ready: "False", Reason: "InvalidValues", Message: "invalid: no map", Stalled: true}, "0/0"},
		{"the operator's", false, []cozyv1.ComponentStatus{own}, override.Verdict{Ready: "False", Reason: "OperatorsOwn", Message: "own: ours", Stalled: true}, "0/1"},
		{"suspended", true, []cozyv1.ComponentStatus{succeeded, waits}, override.Verdict{Ready: "True", Reason: "Suspended", Message: "suspended: releases that are overridden keep what they have"}, "1/2"},
		{"suspended, and not to be merged", true, []cozyv1.ComponentStatus{invalid}, override.Verdict{Ready: "False", Reason: "InvalidValues", Message: "invalid: no map", Stalled: true}, "0/0"},
	} {
		if c.want.Event == "" {
			c.want.Event = c.want.Message
		}
		if got := override.VerdictOf(cozyv1.PackageValuesSpec{Suspend: c.suspend}, c.components); got != c.want {
			t.Errorf("%s:\ngot  %+v\nwant %+v", c.what, got, c.want)
		}
		if got := override.Releases(c.components); got != c.releases {
			t.Errorf("%s: %s releases, want %s", c.what, got, c.releases)
		}
	}
}
