package removals

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// Content is what of an application is compared.
type Content struct {
	Spec        map[string]any    `json:"spec"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ContentOf leaves out what Flux and the operator write.
func ContentOf(object *unstructured.Unstructured) Content {
	spec, _ := object.Object["spec"].(map[string]any)
	return Content{Spec: spec, Labels: ofPeople(object.GetLabels()), Annotations: ofPeople(object.GetAnnotations())}
}

func ofPeople(texts map[string]string) map[string]string {
	kept := maps.Clone(texts)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		return key == removal.Annotation || strings.HasPrefix(key, "kustomize.toolkit.fluxcd.io/")
	})
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// Object is an application from YAML, without a kind and a name.
func Object(text string) (*unstructured.Unstructured, error) {
	encoded, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("parse %q: %w", text, err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(encoded, &content); err != nil {
		return nil, fmt.Errorf("parse %q: %w", text, err)
	}
	content["apiVersion"], content["kind"] = "apps.cozystack.io/v1alpha1", "Postgres"
	if encoded, err = json.Marshal(content); err != nil {
		return nil, fmt.Errorf("encode %q: %w", text, err)
	}
	object := &unstructured.Unstructured{}
	// This reads whole numbers as such.
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("parse %q: %w", text, err)
	}
	return object, nil
}

// Structural is Schema as the API server uses it.
func Structural() (*structuralschema.Structural, error) {
	var written apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(Schema), &written); err != nil {
		return nil, fmt.Errorf("parse the schema: %w", err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &internal, nil); err != nil {
		return nil, fmt.Errorf("convert the schema: %w", err)
	}
	return structuralschema.NewStructural(&internal)
}

// Wanted is what the application has in the end, defaults included.
func (r Removal) Wanted() (Content, error) {
	object, err := Object(r.Want)
	if err != nil {
		return Content{}, err
	}
	structural, err := Structural()
	if err != nil {
		return Content{}, err
	}
	if object.Object["spec"] == nil {
		object.Object["spec"] = map[string]any{}
	}
	defaulting.Default(object.Object["spec"], structural)
	return ContentOf(object), nil
}
