package removal

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Schema is that of an application kind's spec.
type Schema struct {
	spec      *structuralschema.Structural
	converter managedfields.TypeConverter
}

// The kind that every object is taken for while its content is compared.
const (
	comparedVersion = "v1"
	comparedKind    = "Application"
	comparedModel   = "application"
)

// ParseSchema reads the schema that an ApplicationDefinition has for its kind. It uses
// what the API server uses for a custom resource.
func ParseSchema(openAPISchema string) (*Schema, error) {
	var written apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(openAPISchema), &written); err != nil {
		return nil, fmt.Errorf("cannot parse the schema: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &internal, nil); err != nil {
		return nil, fmt.Errorf("cannot convert the schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, fmt.Errorf("cannot use the schema: %w", err)
	}
	texts := spec.MapProperty(spec.StringProperty())
	metadata := spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"labels": *texts, "annotations": *texts,
	}}}
	model := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": *spec.StringProperty(), "kind": *spec.StringProperty(),
		"metadata": metadata, "spec": *structural.ToKubeOpenAPI(),
	}}}
	model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": "", "version": comparedVersion, "kind": comparedKind}})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{comparedModel: model}, false)
	if err != nil {
		return nil, fmt.Errorf("cannot use the schema: %w", err)
	}
	return &Schema{spec: structural, converter: converter}, nil
}

// typed gives content its type; without a schema, the one that can be seen in it.
func (s *Schema) typed(content map[string]any) (*typed.TypedValue, error) {
	converter := managedfields.NewDeducedTypeConverter()
	if s != nil {
		converter = s.converter
	}
	return converter.ObjectToTyped(&unstructured.Unstructured{Object: content}, typed.AllowDuplicates)
}

// defaulted is a copy of content with the schema's defaults put in.
func (s *Schema) defaulted(content map[string]any) map[string]any {
	copied := runtime.DeepCopyJSON(content)
	if s != nil {
		defaulting.Default(copied["spec"], s.spec)
	}
	return copied
}
