package kinds

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Every field that holds a pointer, a map or a list is in one of these.
const (
	fullPackage = `
metadata: {name: p, labels: {a: b}, annotations: {a: b}, finalizers: [f]}
spec: {variant: v, ignoreDependencies: [i], components: {c: {enabled: true, values: {a: 1}}}}
status: {conditions: [{type: Ready}], dependencies: {d: {ready: true}}}
`
	fullSource = `
metadata: {name: p, labels: {a: b}}
spec: {variants: [{name: v, dependsOn: [d], components: [{name: c, valuesFiles: [f], install: {dependsOn: [d]}}]}]}
`
	fullRelease = `
metadata: {name: r, labels: {a: b}, ownerReferences: [{name: o, controller: true}]}
spec:
  maxHistory: 5
  chartRef: {name: c}
  dependsOn: [{name: d}]
  install: {timeout: 1s}
  upgrade: {timeout: 1s}
  valuesFrom: [{name: v}]
  values: {a: 1}
`
)

func TestCopiesShareNothingWithTheirOriginals(t *testing.T) {
	for content, original := range map[string]runtime.Object{
		fullPackage: &Package{}, fullSource: &PackageSource{}, fullRelease: &HelmRelease{},
		"items: [" + asFlow(t, fullPackage) + "]": &PackageList{},
		"items: [" + asFlow(t, fullSource) + "]":  &PackageSourceList{},
		"items: [" + asFlow(t, fullRelease) + "]": &HelmReleaseList{},
	} {
		if err := yaml.UnmarshalStrict([]byte(content), original); err != nil {
			t.Fatal(err)
		}
		copied := original.DeepCopyObject()
		if !reflect.DeepEqual(original, copied) {
			t.Errorf("copy of %T is %+v, want %+v", original, copied, original)
		}
		wantApart(t, reflect.TypeOf(original).String(), reflect.ValueOf(original), reflect.ValueOf(copied))
	}
}

func asFlow(t *testing.T, content string) string {
	t.Helper()
	flow, err := yaml.YAMLToJSON([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return string(flow)
}

// wantApart checks that two equal values have no memory in common.
func wantApart(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
			return
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			wantApart(t, path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		for i := range a.NumField() {
			// A time holds its zone, which all share.
			if a.Type().Field(i).IsExported() && a.Type().Field(i).Name != "Time" {
				wantApart(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
			}
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			wantApart(t, path+"["+key.String()+"]", a.MapIndex(key), b.MapIndex(key))
		}
	case reflect.Slice:
		for i := range a.Len() {
			wantApart(t, path+"[]", a.Index(i), b.Index(i))
		}
	}
}
