package examples

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Wanted is an object that an example comes to in a cluster, as far as its overlay decides it.
type Wanted struct {
	APIVersion, Kind, Namespace, Name string

	fields []field
}

// field is what is to be at a path.
type field struct {
	path  []string
	value any
}

func wanted(apiVersion, kind, namespace, name string, fields ...field) Wanted {
	return Wanted{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, fields: fields}
}

// at is a field; its value is compared as text.
func at(value any, path ...string) field { return field{path: path, value: value} }

// String is the object's kind and name.
func (w Wanted) String() string {
	return strings.ReplaceAll(fmt.Sprintf("%s %s/%s", w.Kind, w.Namespace, w.Name), " /", " ")
}

// Object is to be read into.
func (w Wanted) Object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(w.APIVersion)
	object.SetKind(w.Kind)
	object.SetNamespace(w.Namespace)
	object.SetName(w.Name)
	return object
}

// Differences says in which fields an object is another one than is wanted; nil where in none.
func (w Wanted) Differences(object *unstructured.Unstructured) []string {
	var differences []string
	for _, field := range w.fields {
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, field.path...)
		if err != nil || !found {
			value = "not there"
		}
		if fmt.Sprint(value) != fmt.Sprint(field.value) {
			differences = append(differences, fmt.Sprintf("%s of %s is %v, want %v", strings.Join(field.path, "."), w, value, field.value))
		}
	}
	return differences
}
