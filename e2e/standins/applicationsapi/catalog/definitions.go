package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Definitions is the resource that is read.
var Definitions = schema.GroupVersionResource{Group: "cozystack.io", Version: "v1alpha1", Resource: "applicationdefinitions"}

// definition is what is read of an ApplicationDefinition.
type definition struct {
	Spec struct {
		Application struct {
			Kind          string `json:"kind"`
			Singular      string `json:"singular"`
			Plural        string `json:"plural"`
			OpenAPISchema string `json:"openAPISchema"`
		} `json:"application"`
		Release struct {
			Prefix   string            `json:"prefix"`
			Labels   map[string]string `json:"labels"`
			ChartRef map[string]any    `json:"chartRef"`
		} `json:"release"`
	} `json:"spec"`
}

// Read lists the kinds, by name. A cluster without any is an error, as it is to the
// platform's own server.
func Read(ctx context.Context, client dynamic.Interface) ([]*Kind, error) {
	list, err := client.Resource(Definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list ApplicationDefinitions: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, errors.New("read application kinds: there is no ApplicationDefinition: create one")
	}
	kinds := make([]*Kind, 0, len(list.Items))
	for i := range list.Items {
		kind, err := readKind(&list.Items[i])
		if err != nil {
			return nil, fmt.Errorf("read ApplicationDefinition %s: %w", list.Items[i].GetName(), err)
		}
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].Kind < kinds[j].Kind })
	return kinds, nil
}

func readKind(object *unstructured.Unstructured) (*Kind, error) {
	var read definition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &read); err != nil {
		return nil, err
	}
	application, release := read.Spec.Application, read.Spec.Release
	kind := &Kind{
		Kind: application.Kind, Singular: application.Singular, Plural: application.Plural,
		ReleasePrefix: release.Prefix, ReleaseLabels: release.Labels, ChartRef: release.ChartRef,
	}
	if err := json.Unmarshal([]byte(application.OpenAPISchema), &kind.Schema); err != nil {
		return nil, fmt.Errorf("decode spec.application.openAPISchema: %w", err)
	}
	return kind, kind.readSchema()
}
