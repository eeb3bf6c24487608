// Package catalog reads which application kinds the platform's ApplicationDefinitions
// declare.
package catalog

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of all applications.
var GroupVersion = schema.GroupVersion{Group: "apps.cozystack.io", Version: "v1alpha1"}

// Kind is an application kind.
type Kind struct {
	Kind, Singular, Plural string
	// ReleasePrefix begins the names of its Helm releases, and ReleaseLabels are on them.
	ReleasePrefix string
	ReleaseLabels map[string]string
	// ChartRef leads to its chart, as a HelmRelease names it.
	ChartRef map[string]any
	// Schema is that of its spec.
	Schema apiextensionsv1.JSONSchemaProps

	structural *structuralschema.Structural
}

// GroupVersionKind is the kind's full name.
func (k *Kind) GroupVersionKind() schema.GroupVersionKind { return GroupVersion.WithKind(k.Kind) }

// Resource is what the kind is served as.
func (k *Kind) Resource() schema.GroupVersionResource { return GroupVersion.WithResource(k.Plural) }

// ReleaseName is the name of the Helm release of an application.
func (k *Kind) ReleaseName(application string) string { return k.ReleasePrefix + application }

// DefaultSpec puts the schema's defaults into a spec where it says nothing itself.
func (k *Kind) DefaultSpec(spec map[string]any) { defaulting.Default(spec, k.structural) }

// readSchema makes of the schema what defaults are taken from.
func (k *Kind) readSchema() error {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&k.Schema, internal, nil); err != nil {
		return fmt.Errorf("read schema of kind %s: %w", k.Kind, err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return fmt.Errorf("read schema of kind %s: %w", k.Kind, err)
	}
	k.structural = structural
	return nil
}
