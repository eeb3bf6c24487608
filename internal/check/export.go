package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Export is what a cluster has of Packages, PackageSources and PackageValues, by name.
type Export struct {
	Packages map[string]*packages.Package
	Sources  map[string]*packages.PackageSource
	Values   map[string]*cozyv1.PackageValues
}

// NewExport has nothing in it.
func NewExport() *Export {
	return &Export{Packages: map[string]*packages.Package{}, Sources: map[string]*packages.PackageSource{}, Values: map[string]*cozyv1.PackageValues{}}
}

// ReadExport reads what `kubectl get packages,packagesources,packagevalues -o yaml` has
// printed; PackageValues may be left out.
func ReadExport(path string) (*Export, error) {
	content, err := os.ReadFile(path) //nolint:gosec // G304: whoever runs the program names its file.
	if err != nil {
		return nil, fmt.Errorf("cannot read the export of Packages: %w", err)
	}
	export := NewExport()
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the export of Packages in %s: %w", path, err)
		}
		if !object.IsList() {
			err = export.add(object)
		} else {
			err = object.EachListItem(func(item runtime.Object) error { return export.add(item.(*unstructured.Unstructured)) })
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the export of Packages in %s: %w", path, err)
		}
	}
	if len(export.Packages) == 0 {
		return nil, fmt.Errorf("there is no Package in %s: write it with kubectl get packages,packagesources -o yaml", path)
	}
	return export, nil
}

func (e *Export) add(object *unstructured.Unstructured) error {
	if object.GroupVersionKind().Group != packages.GroupVersion.Group {
		return nil
	}
	convert := runtime.DefaultUnstructuredConverter.FromUnstructured
	switch object.GetKind() {
	case "Package":
		pkg := &packages.Package{}
		e.Packages[object.GetName()] = pkg
		return convert(object.Object, pkg)
	case "PackageSource":
		source := &packages.PackageSource{}
		e.Sources[object.GetName()] = source
		return convert(object.Object, source)
	case cozyv1.PackageValuesKind:
		values := &cozyv1.PackageValues{}
		e.Values[object.GetName()] = values
		return convert(object.Object, values)
	}
	return nil
}

// maxNames bounds how many Packages a sentence names.
const maxNames = 20

func (e *Export) names() string {
	names := slices.Sorted(maps.Keys(e.Packages))
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], "…")
	}
	return strings.Join(names, ", ")
}
