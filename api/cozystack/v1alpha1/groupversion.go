// Package v1alpha1 holds the kind of cozystack.io that is ours: PackageValues. All others of
// that group are the platform's.
//
// +kubebuilder:object:generate=true
// +groupName=cozystack.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion names the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "cozystack.io", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &PackageValues{}, &PackageValuesList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
