// Package healthcheck says to Flux, in CEL, when an application is healthy. Without that a
// fresh application counts as healthy, since it has no condition that says otherwise, and
// one whose release has failed counts as on its way until the timeout.
package healthcheck

import (
	"slices"
	"strings"

	"github.com/fluxcd/pkg/apis/kustomize"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// APIVersion is that of the applications.
const APIVersion = "apps.cozystack.io/v1alpha1"

// FailureReasons are the reasons of a condition Ready or Released with which an attempt of
// helm-controller has failed: the attempt itself, or the way back from it. One that was
// rolled back or uninstalled has failed too, although that succeeded.
var FailureReasons = []string{
	"InstallFailed", "UpgradeFailed", "TestFailed",
	"RollbackFailed", "RollbackSucceeded", "UninstallFailed", "UninstallSucceeded",
}

// What Flux evaluates, in this order. It does so without a schema, on the object as it is
// read, so that:
//
//   - has() guards every field that may be missing. The one that cannot be guarded is
//     status as a whole, since it is the root: an object without any status gives an
//     error, which Flux counts as unknown, so neither ready nor failed, and asks again.
//   - Generations are compared only where there are any: the applications API has none.
//     A condition of an older generation says nothing of the object as it is now.
//   - An object that is not there is none of this: Flux looks for it again.
var expressions = kustomize.HealthCheckExpressions{
	InProgress: `has(metadata.deletionTimestamp) || has(status.conditions) && status.conditions.exists(c, ` +
		`c.type == 'Ready' && has(c.observedGeneration) && has(metadata.generation) && c.observedGeneration < metadata.generation)`,
	Failed: `has(status.conditions) && status.conditions.exists(c, ` +
		`c.type == 'Stalled' && c.status == 'True' || ` +
		`c.type == 'Ready' && c.status == 'False' && has(c.reason) && c.reason in ['` + strings.Join(FailureReasons, `', '`) + `'])`,
	Current: `has(status.conditions) && status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')`,
}

// Expressions are those of a source for the application kinds, in order. What the source
// says itself of a kind, or of all kinds of the group, wins. Flux goes by group and kind,
// and refuses two entries for one, whatever their versions.
func Expressions(kinds []string, own []kustomize.CustomHealthCheck) []kustomize.CustomHealthCheck {
	said := map[schema.GroupKind]bool{}
	for _, check := range own {
		said[schema.FromAPIVersionAndKind(check.APIVersion, check.Kind).GroupKind()] = true
	}
	group := schema.FromAPIVersionAndKind(APIVersion, "").GroupKind()
	checks := slices.Clone(own)
	if said[group] {
		return checks
	}
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		if !said[schema.GroupKind{Group: group.Group, Kind: kind}] {
			checks = append(checks, kustomize.CustomHealthCheck{APIVersion: APIVersion, Kind: kind, HealthCheckExpressions: expressions})
		}
	}
	return checks
}

// Readable takes out of one of Flux's messages what it says of an object without a status:
// a whole expression, and that it could not be evaluated.
func Readable(message string) string {
	return strings.ReplaceAll(message,
		`: failed to evaluate the CEL expression '`+expressions.InProgress+`': no such attribute(s): status.conditions`, ` (it has no status yet)`)
}
