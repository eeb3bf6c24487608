package server

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apiserver/pkg/server/mux"
	"k8s.io/kube-openapi/pkg/handler"
	"k8s.io/kube-openapi/pkg/handler3"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// serveOpenAPI serves the documents from which clients learn the kinds' schemas.
func serveOpenAPI(kinds []*catalog.Kind, paths *mux.PathRecorderMux) error {
	var second []*spec.Swagger
	var third []*spec3.OpenAPI
	for _, kind := range kinds {
		resource := kind.CustomResource()
		v2, err := builder.BuildOpenAPIV2(resource, catalog.GroupVersion.Version, builder.Options{V2: true})
		if err != nil {
			return fmt.Errorf("describe kind %s in OpenAPI 2: %w", kind.Kind, err)
		}
		v3, err := builder.BuildOpenAPIV3(resource, catalog.GroupVersion.Version, builder.Options{})
		if err != nil {
			return fmt.Errorf("describe kind %s in OpenAPI 3: %w", kind.Kind, err)
		}
		second, third = append(second, v2), append(third, v3)
	}
	v2, err := builder.MergeSpecs(&spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger: "2.0", Info: &spec.Info{InfoProps: spec.InfoProps{Title: "Applications", Version: catalog.GroupVersion.Version}},
	}}, second...)
	if err != nil {
		return fmt.Errorf("merge the OpenAPI 2 documents: %w", err)
	}
	v3, err := builder.MergeSpecsV3(third...)
	if err != nil {
		return fmt.Errorf("merge the OpenAPI 3 documents: %w", err)
	}
	handler.NewOpenAPIService(v2).RegisterOpenAPIVersionedService("/openapi/v2", paths)
	versions := handler3.NewOpenAPIService()
	versions.UpdateGroupVersion("apis/"+catalog.GroupVersion.String(), v3)
	if err := versions.RegisterOpenAPIV3VersionedService("/openapi/v3", paths); err != nil {
		return fmt.Errorf("serve the OpenAPI 3 documents: %w", err)
	}
	return nil
}
