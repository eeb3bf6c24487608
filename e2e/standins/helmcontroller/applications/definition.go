// Package applications makes the releases of applications that are served as plain
// custom resources, where the platform's own API server would store them as releases in
// the first place, and copies the state of the releases into the applications' status.
package applications

import (
	"encoding/json"
	"fmt"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group and Version are those of the applications.
const (
	Group   = "apps.cozystack.io"
	Version = "v1alpha1"
)

// definitionKind is what the catalog has for each kind of application.
var definitionKind = schema.GroupVersionKind{Group: "cozystack.io", Version: "v1alpha1", Kind: "ApplicationDefinition"}

const definitionResource = "applicationdefinitions"

// Definition is what the catalog says of a kind.
type Definition struct {
	Kind, Plural string
	// Prefix begins the names of the kind's releases.
	Prefix string
	// Labels are those of each release.
	Labels map[string]string
	// Chart is the source of the chart.
	Chart v2.CrossNamespaceSourceReference
}

// ReadDefinition reads an ApplicationDefinition.
func ReadDefinition(object *unstructured.Unstructured) (Definition, error) {
	content, err := json.Marshal(object.Object["spec"])
	if err != nil {
		return Definition{}, fmt.Errorf("encode ApplicationDefinition %s: %w", object.GetName(), err)
	}
	var spec struct {
		Application struct{ Kind, Plural string }
		Release     struct {
			Prefix   string
			Labels   map[string]string
			ChartRef v2.CrossNamespaceSourceReference
		}
	}
	if err := json.Unmarshal(content, &spec); err != nil {
		return Definition{}, fmt.Errorf("read ApplicationDefinition %s: %w", object.GetName(), err)
	}
	return Definition{
		Kind: spec.Application.Kind, Plural: spec.Application.Plural,
		Prefix: spec.Release.Prefix, Labels: spec.Release.Labels, Chart: spec.Release.ChartRef,
	}, nil
}

func (d Definition) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: Group, Version: Version, Kind: d.Kind}
}
