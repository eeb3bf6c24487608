// Package kinds holds the Go types of the kinds that the package operator reads and
// writes, with those fields only that it knows.
package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is that of Package and PackageSource.
	GroupVersion = schema.GroupVersion{Group: "cozystack.io", Version: "v1alpha1"}
	// HelmGroupVersion is that of HelmRelease.
	HelmGroupVersion = schema.GroupVersion{Group: "helm.toolkit.fluxcd.io", Version: "v2"}
)

// AddToScheme tells a scheme of the kinds. It never fails: it has the form that lists of
// such functions want.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Package{}, &PackageList{}, &PackageSource{}, &PackageSourceList{})
	scheme.AddKnownTypes(HelmGroupVersion, &HelmRelease{}, &HelmReleaseList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	metav1.AddToGroupVersion(scheme, HelmGroupVersion)
	return nil
}
