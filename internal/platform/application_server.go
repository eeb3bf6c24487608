package platform

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ApplicationsAPIService is the APIService of the managed applications: it names a
// Service where they are served by an API server of their own.
const ApplicationsAPIService = "v1alpha1." + applicationsGroup

// APIService is an APIService to read the applications' into.
func APIService() *unstructured.Unstructured {
	service := &unstructured.Unstructured{}
	service.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	service.SetName(ApplicationsAPIService)
	return service
}
