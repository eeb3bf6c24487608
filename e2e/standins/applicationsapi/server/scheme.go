package server

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// scheme knows what every API server speaks beside its own kinds. Applications are not
// in it: they have no Go type.
var scheme = newScheme()

var codecs = serializer.NewCodecFactory(scheme)

func newScheme() *runtime.Scheme {
	made := runtime.NewScheme()
	unversioned := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(made, unversioned)
	made.AddUnversionedTypes(unversioned,
		&metav1.Status{}, &metav1.WatchEvent{}, &metav1.APIVersions{},
		&metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{},
	)
	return made
}
