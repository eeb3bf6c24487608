package server

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// largestBody is what the API server itself takes.
const largestBody = 3 << 20

// newScope is how requests for a kind are read, merged and answered.
func newScope(kind *catalog.Kind, table rest.TableConvertor, authorizer authorizer.Authorizer) (*handlers.RequestScope, error) {
	parameters := runtime.NewScheme()
	parameters.AddUnversionedTypes(catalog.GroupVersion, &metav1.ListOptions{}, &metav1.GetOptions{}, &metav1.DeleteOptions{})
	typer := apiserver.UnstructuredObjectTyper{Delegate: parameters, UnstructuredTyper: crdserverscheme.NewUnstructuredObjectTyper()}
	equivalents := runtime.NewEquivalentResourceRegistry()
	equivalents.RegisterKindFor(kind.Resource(), "", kind.GroupVersionKind())
	serializer := newNegotiated(typer)
	scope := &handlers.RequestScope{
		Namer:                    handlers.ContextBasedNaming{Namer: meta.NewAccessor()},
		Serializer:               serializer,
		ParameterCodec:           runtime.NewParameterCodec(parameters),
		StandardSerializers:      serializer.SupportedMediaTypes(),
		Creater:                  creator{}, //nolint:misspell // the field is called so
		Convertor:                converter{},
		UnsafeConvertor:          converter{},
		Defaulter:                defaulter{},
		Typer:                    typer,
		EquivalentResourceMapper: equivalents,
		Resource:                 kind.Resource(),
		Kind:                     kind.GroupVersionKind(),
		HubGroupVersion:          catalog.GroupVersion,
		MetaGroupVersion:         metav1.SchemeGroupVersion,
		TableConvertor:           table,
		Authorizer:               authorizer,
		MaxRequestBodyBytes:      largestBody,
	}
	types, err := mergedBySchema(kind)
	if err != nil {
		return nil, err
	}
	scope.FieldManager, err = managedfields.NewDefaultCRDFieldManager(
		types, scope.Convertor, scope.Defaulter, creator{}, scope.Kind, scope.HubGroupVersion, "", nil)
	if err != nil {
		return nil, fmt.Errorf("make field manager of kind %s: %w", kind.Kind, err)
	}
	return scope, nil
}

// mergedBySchema has an apply merge what the kind's schema says can be merged.
func mergedBySchema(kind *catalog.Kind) (managedfields.TypeConverter, error) {
	document, err := builder.BuildOpenAPIV3(kind.CustomResource(), catalog.GroupVersion.Version, builder.Options{})
	if err != nil {
		return nil, fmt.Errorf("describe kind %s: %w", kind.Kind, err)
	}
	types, err := managedfields.NewTypeConverter(document.Components.Schemas, false)
	if err != nil {
		return nil, fmt.Errorf("read the types of kind %s: %w", kind.Kind, err)
	}
	return types, nil
}
