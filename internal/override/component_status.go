package override

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/merge"
	"github.com/cozystack/gitops-operator/internal/packages"
)

const (
	// maxValues bounds the values of one component that the status shows, and maxAllValues
	// those of all together, in bytes: etcd takes 1.5 MiB.
	maxValues    = 64 << 10
	maxAllValues = 256 << 10
	// maxPaths and maxListed bound what is listed of one component, and maxPath one path, in
	// bytes; maxAllPaths bounds what is listed of all together.
	maxPaths    = 100
	maxListed   = 50
	maxPath     = 512
	maxAllPaths = 256 << 10
	// maxMessage bounds what is told of one component, in bytes.
	maxMessage = 1024
)

// Seen is what is known of the cluster when a status is made.
type Seen struct {
	Snapshot
	// Releases are those with the Package's label.
	Releases []packages.Release
	// Refused are releases that could not be written, with the API server's words.
	Refused map[types.NamespacedName]string
	// OperatorNamespace is the one whose releases nothing overrides.
	OperatorNamespace string
}

// Components says of each component of the spec what has become of its override, by name.
// There must be a Package, a PackageSource and a PackageValues.
func (s Seen) Components() []cozyv1.ComponentStatus {
	var all []cozyv1.ComponentStatus
	left, leftPaths := maxAllValues, maxAllPaths
	for _, name := range slices.Sorted(maps.Keys(s.Values.Spec.Components)) {
		status := s.component(name)
		if status.Values != nil {
			if size := len(status.Values.Raw); size > maxValues || size > left {
				status.Values = nil
			} else {
				left -= size
			}
		}
		bindPaths(&status, &leftPaths)
		all = append(all, status)
	}
	return all
}

func (s Seen) component(name string) cozyv1.ComponentStatus {
	status := cozyv1.ComponentStatus{Name: name}
	result, err := s.merge(name)
	if err != nil {
		return because(status, metav1.ConditionFalse, cozyv1.ReasonInvalidValues, "%s", err)
	}
	describe(&status, result)
	components, _ := packages.Components(s.Package, s.Source)
	at := slices.IndexFunc(components, func(c packages.Component) bool { return c.Name == name })
	if at < 0 {
		return because(status, metav1.ConditionFalse, cozyv1.ReasonComponentNotFound,
			"the Package has no component %s: it has %s", name, namesOf(components))
	}
	key, installed := packages.ReleaseOf(s.Package, components[at])
	if !installed {
		return because(status, metav1.ConditionTrue, cozyv1.ReasonComponentNotInstalled,
			"the component is disabled in the Package, or has no release: the values wait until it has one")
	}
	status.Release = key.String()
	if key.Namespace == s.OperatorNamespace {
		return because(status, metav1.ConditionFalse, cozyv1.ReasonOperatorsOwn,
			"release %s is in the operator's own namespace: an override there would keep a broken operator from being mended; set the values in the Package", key)
	}
	at = slices.IndexFunc(s.Releases, func(r packages.Release) bool { return r.Namespace == key.Namespace && r.Name == key.Name })
	if at < 0 {
		return because(status, metav1.ConditionUnknown, cozyv1.ReasonReleaseNotFound, "release %s is not made yet", key)
	}
	return s.released(status, &s.Releases[at])
}

// released says how far the values have come in a release that is there.
func (s Seen) released(status cozyv1.ComponentStatus, release *packages.Release) cozyv1.ComponentStatus {
	key := types.NamespacedName{Namespace: release.Namespace, Name: release.Name}
	refused, isRefused := s.Refused[key]
	switch {
	case s.Values.Spec.Suspend:
		return because(status, metav1.ConditionTrue, cozyv1.ReasonSuspended, "the override is suspended: release %s keeps what it has", key)
	case isRefused:
		return because(status, metav1.ConditionFalse, cozyv1.ReasonNotStored, "release %s does not take the values: %s", key, refused)
	case release.Digest != status.Digest || release.Labels[packages.OverriddenLabel] != packages.Overridden:
		return because(status, metav1.ConditionUnknown, cozyv1.ReasonProgressing, "release %s is being written", key)
	}
	state := release.State()
	switch {
	case release.Spec.Suspend:
		return because(status, metav1.ConditionUnknown, cozyv1.ReasonProgressing, "release %s has the values and is suspended: Helm applies them when it is resumed", key)
	case state.Phase == helmrelease.Failed:
		return because(status, metav1.ConditionFalse, cozyv1.ReasonReleaseFailed, "release %s failed: %s", key, state.Message)
	case release.Status.ObservedGeneration < release.Generation || state.Phase != helmrelease.Ready:
		return because(status, metav1.ConditionUnknown, cozyv1.ReasonProgressing, "release %s has the values, and Helm has not applied them yet", key)
	}
	return because(status, metav1.ConditionTrue, cozyv1.ReasonSucceeded, "Helm has applied release %s", key)
}

func because(status cozyv1.ComponentStatus, ready metav1.ConditionStatus, reason, format string, args ...any) cozyv1.ComponentStatus {
	status.Ready, status.Reason, status.Message = ready, reason, bounded(fmt.Sprintf(format, args...))
	return status
}

// describe says what the override does to the Package's values.
func describe(status *cozyv1.ComponentStatus, result merge.Result) {
	if len(result.Values) > 0 {
		status.Values = &apiextensionsv1.JSON{Raw: result.Values}
	}
	// What was merged has been read, so it has a digest.
	status.Digest, _ = packages.Digest(result.Values)
	status.OverriddenCount = int64(len(result.Overridden))
	status.Overridden = paths(result.Overridden)
	status.Shadowed = paths(result.Shadowed)
	for _, replaced := range result.Replaced[:min(len(result.Replaced), maxListed)] {
		status.ReplacedLists = append(status.ReplacedLists, cozyv1.ReplacedList{
			Path: cut(replaced.Path.String(), maxPath), Before: int64(replaced.Before), After: int64(replaced.After),
		})
	}
	for _, idle := range result.Idle[:min(len(result.Idle), maxListed)] {
		status.WithoutEffect = append(status.WithoutEffect, fmt.Sprintf("%s %s: %s", idle.Part, cut(idle.Path.String(), maxPath), idle.Why))
	}
}

func paths(all []merge.Path) []string {
	var texts []string
	for _, path := range all[:min(len(all), maxPaths)] {
		texts = append(texts, cut(path.String(), maxPath))
	}
	return texts
}

// bindPaths leaves as much of the lists as there is room for. What is most worth knowing
// comes first.
func bindPaths(status *cozyv1.ComponentStatus, left *int) {
	status.ReplacedLists = fitting(status.ReplacedLists, func(r cozyv1.ReplacedList) string { return r.Path }, left)
	for _, texts := range []*[]string{&status.WithoutEffect, &status.Overridden, &status.Shadowed} {
		*texts = fitting(*texts, func(text string) string { return text }, left)
	}
}

// fitting are the first items for whose texts there is room.
func fitting[T any](items []T, text func(T) string, left *int) []T {
	for i, item := range items {
		size := len(text(item))
		if size > *left {
			*left = 0
			return items[:i:i]
		}
		*left -= size
	}
	return items
}

func namesOf(components []packages.Component) string {
	var names []string
	for _, component := range components {
		names = append(names, component.Name)
	}
	return listed(names)
}

// listed are names in one line.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	if len(names) > maxListed {
		names = append(names[:maxListed:maxListed], "…")
	}
	return strings.Join(names, ", ")
}

// bounded makes one line of a message, and cuts it off.
func bounded(message string) string {
	return cut(strings.Join(strings.Fields(strings.ReplaceAll(message, "\n", "; ")), " "), maxMessage)
}

// cut cuts off what is longer than so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("…")], "") + "…"
}
