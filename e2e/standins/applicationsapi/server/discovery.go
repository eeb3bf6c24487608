package server

import (
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// verbs are what a client may do with applications: no deletion of a collection, and no
// subresource.
var verbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}

func apiGroup() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: catalog.GroupVersion.String(), Version: catalog.GroupVersion.Version}
	return metav1.APIGroup{
		TypeMeta:         metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:             catalog.GroupVersion.Group,
		Versions:         []metav1.GroupVersionForDiscovery{version},
		PreferredVersion: version,
	}
}

func apiResources(kinds []*catalog.Kind) []metav1.APIResource {
	var resources []metav1.APIResource
	for _, kind := range kinds {
		resources = append(resources, metav1.APIResource{
			Name: kind.Plural, SingularName: kind.Singular, Kind: kind.Kind, Namespaced: true, Verbs: verbs,
		})
	}
	return resources
}

// apiVersion is what apiResources says, in the form that clients ask for first.
func apiVersion(kinds []*catalog.Kind) apidiscoveryv2.APIVersionDiscovery {
	version := apidiscoveryv2.APIVersionDiscovery{
		Version: catalog.GroupVersion.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
	}
	for _, kind := range kinds {
		version.Resources = append(version.Resources, apidiscoveryv2.APIResourceDiscovery{
			Resource:         kind.Plural,
			SingularResource: kind.Singular,
			ResponseKind: &metav1.GroupVersionKind{
				Group: catalog.GroupVersion.Group, Version: catalog.GroupVersion.Version, Kind: kind.Kind,
			},
			Scope: apidiscoveryv2.ScopeNamespace,
			Verbs: verbs,
		})
	}
	return version
}
