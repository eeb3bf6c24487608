package applications

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shownConditions are those of a release that its application shows.
var shownConditions = []string{meta.ReadyCondition, v2.ReleasedCondition}

// status is what is copied into an application's status.
type status struct {
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration *int64             `json:"observedGeneration,omitempty"`
}

// readStatus reads as much of an application's status as is copied.
func readStatus(application *unstructured.Unstructured) (status, error) {
	var s status
	content, err := json.Marshal(application.Object["status"])
	if err == nil {
		err = json.Unmarshal(content, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read status of %s %s: %w", application.GetKind(), application.GetName(), err)
	}
	return s, nil
}

// copied is the status of an application after that of its release, and whether it
// differs from the one before. A generation can be said to be observed only where
// writing the status does not make a new one.
func copied(before status, release *v2.HelmRelease, generation int64, statusIsSubresource bool) (after status, changed bool) {
	after.ObservedGeneration = before.ObservedGeneration
	for _, condition := range before.Conditions {
		if !slices.Contains(shownConditions, condition.Type) {
			after.Conditions = append(after.Conditions, condition)
		}
	}
	for _, condition := range release.Status.Conditions {
		if !slices.Contains(shownConditions, condition.Type) {
			continue
		}
		// It counts the generations of the release, which are not those of the application.
		condition.ObservedGeneration = 0
		after.Conditions = append(after.Conditions, condition)
	}
	slices.SortFunc(after.Conditions, func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	if statusIsSubresource && release.Status.ObservedGeneration == release.Generation {
		after.ObservedGeneration = &generation
	}
	sorted := slices.SortedFunc(slices.Values(before.Conditions), func(a, b metav1.Condition) int { return strings.Compare(a.Type, b.Type) })
	return after, !apiequality.Semantic.DeepEqual(status{Conditions: sorted, ObservedGeneration: before.ObservedGeneration}, after)
}
