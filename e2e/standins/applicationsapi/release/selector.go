package release

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// Selector chooses the releases of the applications that a selector chooses; nil is all
// of the kind.
func Selector(kind *catalog.Kind, chosen labels.Selector) (labels.Selector, error) {
	selector := labels.NewSelector()
	for _, pair := range [][2]string{{kindLabel, kind.Kind}, {groupLabel, catalog.GroupVersion.Group}} {
		requirement, err := labels.NewRequirement(pair[0], selection.Equals, []string{pair[1]})
		if err != nil {
			return nil, fmt.Errorf("select releases of kind %s: %w", kind.Kind, err)
		}
		selector = selector.Add(*requirement)
	}
	if chosen == nil {
		return selector, nil
	}
	requirements, selectable := chosen.Requirements()
	if !selectable {
		return labels.Nothing(), nil
	}
	for _, one := range requirements {
		translated, err := labels.NewRequirement(metadataPrefix+one.Key(), one.Operator(), one.Values().List())
		if err != nil {
			return nil, fmt.Errorf("translate label selector %q: %w", one.String(), err)
		}
		selector = selector.Add(*translated)
	}
	return selector, nil
}
