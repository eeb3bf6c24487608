package override

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Verdict is what the condition Ready says.
type Verdict struct {
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	// Event is the message without the words of others, Helm's and the API server's: they may
	// hold values, and whoever reads events need not be one who may read PackageValues.
	Event string
	// Stalled: it cannot come to pass without a change of the PackageValues.
	Stalled bool
}

// Missing is the verdict where what a status needs is not there; ok is true where all is.
func (s Snapshot) Missing(name string) (verdict Verdict, ok bool) {
	missing := func(reason, format string, args ...any) (Verdict, bool) {
		message := bounded(fmt.Sprintf(format, args...))
		return Verdict{Ready: metav1.ConditionFalse, Reason: reason, Message: message, Event: message}, false
	}
	if s.Package == nil {
		return missing(cozyv1.ReasonPackageNotFound,
			"there is no Package %s: the override takes effect when there is one; a PackageValues is for the Package of its own name", name)
	}
	if s.Source == nil {
		return missing(cozyv1.ReasonPackageSourceNotFound, "there is no PackageSource %s, so the components of the Package are not known", name)
	}
	if _, found := packages.Components(s.Package, s.Source); !found {
		return missing(cozyv1.ReasonPackageSourceNotFound,
			"PackageSource %s does not have the variant of the Package, so its components are not known: it has %s", name, variantsOf(s.Source))
	}
	return Verdict{}, true
}

// variantsOf names the variants of a source.
func variantsOf(source *packages.PackageSource) string {
	var names []string
	for _, variant := range source.Spec.Variants {
		names = append(names, variant.Name)
	}
	return listed(names)
}

// VerdictOf sums up the components: what has failed, what is on its way, what is done. One
// that the Package does not have is told of, and keeps the others from nothing.
func VerdictOf(spec cozyv1.PackageValuesSpec, components []cozyv1.ComponentStatus) Verdict {
	var failed, failures, waiting, absent []string
	verdict := Verdict{}
	done := 0
	for _, component := range components {
		said := fmt.Sprintf("%s: %s", component.Name, component.Message)
		switch {
		case component.Reason == cozyv1.ReasonComponentNotFound:
			absent = append(absent, said)
		case component.Ready == metav1.ConditionFalse:
			failed, failures = append(failed, said), append(failures, inOwnWords(component))
			if verdict.Reason == "" {
				verdict.Reason = component.Reason
			}
			verdict.Stalled = verdict.Stalled || component.Reason == cozyv1.ReasonInvalidValues || component.Reason == cozyv1.ReasonOperatorsOwn
		case component.Ready == metav1.ConditionUnknown:
			waiting = append(waiting, said)
		default:
			done++
		}
	}
	switch {
	case len(failed) > 0:
		verdict.Ready, verdict.Message = metav1.ConditionFalse, sentence(append(failed, absent...))
		verdict.Event = sentence(append(failures, absent...))
		return verdict
	case spec.Suspend:
		verdict.Ready, verdict.Reason = metav1.ConditionTrue, cozyv1.ReasonSuspended
		verdict.Message = "suspended: releases that are overridden keep what they have"
	case len(waiting) > 0:
		verdict.Ready, verdict.Reason, verdict.Message = metav1.ConditionUnknown, cozyv1.ReasonProgressing, sentence(append(waiting, absent...))
	case done == 0:
		verdict.Ready, verdict.Reason, verdict.Message = metav1.ConditionFalse, cozyv1.ReasonComponentNotFound, sentence(absent)
	default:
		verdict.Ready, verdict.Reason = metav1.ConditionTrue, cozyv1.ReasonSucceeded
		verdict.Message = sentence(append([]string{fmt.Sprintf("%d of %d components have their values", done, len(components))}, absent...))
	}
	verdict.Event = verdict.Message
	return verdict
}

// inOwnWords says of a component that has failed what others did not say.
func inOwnWords(component cozyv1.ComponentStatus) string {
	switch component.Reason {
	case cozyv1.ReasonNotStored:
		return fmt.Sprintf("%s: release %s does not take the values: the status says why", component.Name, component.Release)
	case cozyv1.ReasonReleaseFailed:
		return fmt.Sprintf("%s: release %s failed: the status says why", component.Name, component.Release)
	}
	return fmt.Sprintf("%s: %s", component.Name, component.Message)
}

// maxTold is how many components a sentence tells of.
const maxTold = 5

func sentence(told []string) string {
	if len(told) > maxTold {
		told = append(told[:maxTold:maxTold], fmt.Sprintf("and %d more", len(told)-maxTold))
	}
	return strings.Join(told, "; ")
}

// Releases says of how many releases Helm has applied the values, of how many there are to be.
func Releases(components []cozyv1.ComponentStatus) string {
	applied, all := 0, 0
	for _, component := range components {
		if component.Release == "" {
			continue
		}
		all++
		if component.Reason == cozyv1.ReasonSucceeded {
			applied++
		}
	}
	return fmt.Sprintf("%d/%d", applied, all)
}
