package packages_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// filled are objects in which nothing is empty that could be shared.
func filled(t *testing.T) []runtime.Object {
	t.Helper()
	pkg, src := &packages.Package{}, &packages.PackageSource{}
	for text, into := range map[string]any{
		`{"kind":"Package","metadata":{"name":"a","labels":{"a":"b"},"annotations":{"a":"b"},"finalizers":["a"]},
"spec":{"variant":"small","components":{"web":{"enabled":false,"values":{"a":1}},"none":{}}},
"status":{"conditions":[{"type":"Ready","status":"True","reason":"a","message":"b"}]}}`: pkg,
		`{"kind":"PackageSource","metadata":{"name":"a","labels":{"a":"b"}},
"spec":{"variants":[{"name":"small","components":[{"name":"web","install":{"namespace":"a","releaseName":"b"}},{"name":"library"}]}]}}`: src,
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	release := read(t)
	release.Digest = "sha256:a"
	return []runtime.Object{
		pkg, src, release,
		&packages.PackageList{Items: []packages.Package{*pkg}}, &packages.PackageSourceList{Items: []packages.PackageSource{*src}},
		&packages.ReleaseList{Items: []packages.Release{*release}},
		&packages.Package{}, &packages.PackageSource{}, &packages.Release{},
		&packages.PackageList{}, &packages.PackageSourceList{}, &packages.ReleaseList{},
	}
}

func TestCopiesAreEqualAndShareNothing(t *testing.T) {
	for _, object := range filled(t) {
		copied := object.DeepCopyObject()
		if !reflect.DeepEqual(object, copied) {
			t.Errorf("%T: the copy is\n%+v\nof\n%+v", object, copied, object)
		}
		memory := map[uintptr]string{}
		walk(reflect.ValueOf(object), "", func(at uintptr, path string) { memory[at] = path })
		if len(memory) == 0 {
			t.Errorf("%T: nothing is looked at", object)
		}
		walk(reflect.ValueOf(copied), "", func(at uintptr, path string) {
			if _, shared := memory[at]; shared {
				t.Errorf("%T: both have the same %s", object, path)
			}
		})
	}
}

// walk visits all memory that a value leads to and that may be written through it.
func walk(v reflect.Value, path string, visit func(uintptr, string)) {
	switch v.Kind() {
	case reflect.Pointer:
		// A time's zone is the process' own, and is never written.
		if !v.IsNil() && v.Type().String() != "*time.Location" {
			visit(v.Pointer(), path)
			walk(v.Elem(), path, visit)
		}
	case reflect.Interface:
		walk(v.Elem(), path, visit)
	case reflect.Map:
		if !v.IsNil() {
			visit(v.Pointer(), path)
		}
		for _, key := range v.MapKeys() {
			walk(v.MapIndex(key), path+"."+key.String(), visit)
		}
	case reflect.Slice:
		if v.Len() > 0 {
			visit(v.Pointer(), path)
		}
		for i := range v.Len() {
			walk(v.Index(i), path+"[]", visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
	}
}
