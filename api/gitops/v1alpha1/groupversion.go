// Package v1alpha1 holds the kinds of gitops.cozystack.io: what a tenant or an
// admin writes to have a repository reconciled.
//
// +kubebuilder:object:generate=true
// +groupName=gitops.cozystack.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion names the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: "gitops.cozystack.io", Version: "v1alpha1"}

// AddToScheme registers the kinds of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TenantGitOps{}, &TenantGitOpsList{}, &GitOpsParameters{}, &GitOpsParametersList{}, &Customizer{}, &CustomizerList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
