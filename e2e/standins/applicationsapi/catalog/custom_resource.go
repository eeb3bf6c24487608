package catalog

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Columns are what is printed of an application beside its name.
var Columns = []apiextensionsv1.CustomResourceColumnDefinition{
	{Name: "Ready", Type: "string", JSONPath: `.status.conditions[?(@.type=="Ready")].status`},
	{Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp"},
}

// CustomResource describes the kind in the form from which OpenAPI documents are made.
// It is not stored anywhere.
func (k *Kind) CustomResource() *apiextensionsv1.CustomResourceDefinition {
	open := true
	condition := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	status := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"conditions": {Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition}},
		"version":    {Type: "string"},
	}}
	names := apiextensionsv1.CustomResourceDefinitionNames{
		Kind: k.Kind, ListKind: k.Kind + "List", Singular: k.Singular, Plural: k.Plural,
	}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: k.Plural + "." + GroupVersion.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: GroupVersion.Group, Scope: apiextensionsv1.NamespaceScoped, Names: names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: GroupVersion.Version, Served: true, Storage: true, AdditionalPrinterColumns: Columns,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": k.Schema, "status": status},
				}},
			}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{AcceptedNames: names},
	}
}
