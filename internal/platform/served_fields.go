package platform

import (
	"fmt"
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// UnknownFields returns the paths, in order, that an object holds and the served
// schema does not know. The API server would drop them without a word, and a
// Kustomization without, say, its deletionPolicy does something else than meant.
func UnknownFields(crd *apiextensionsv1.CustomResourceDefinition, version string, object map[string]any) ([]string, error) {
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Name != version {
			continue
		}
		if !v.Served || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			break
		}
		spec, _ := object["spec"].(map[string]any)
		schema, ok := v.Schema.OpenAPIV3Schema.Properties["spec"]
		if !ok {
			return []string{"spec"}, nil
		}
		var unknown []string
		collectUnknown("spec", spec, &schema, &unknown)
		sort.Strings(unknown)
		return unknown, nil
	}
	return nil, fmt.Errorf("custom resource definition %s does not serve version %s", crd.Name, version)
}

func collectUnknown(path string, value any, schema *apiextensionsv1.JSONSchemaProps, unknown *[]string) {
	if schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for key, child := range value {
			if property, ok := schema.Properties[key]; ok {
				collectUnknown(path+"."+key, child, &property, unknown)
			} else if schema.AdditionalProperties != nil {
				if schema.AdditionalProperties.Schema != nil {
					collectUnknown(path+"."+key, child, schema.AdditionalProperties.Schema, unknown)
				}
			} else {
				*unknown = append(*unknown, path+"."+key)
			}
		}
	case []any:
		if schema.Items == nil || schema.Items.Schema == nil {
			return
		}
		for _, child := range value {
			collectUnknown(path+"[]", child, schema.Items.Schema, unknown)
		}
	}
}
