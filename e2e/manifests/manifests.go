// Package manifests reads YAML manifests and applies them to a test cluster.
package manifests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner owns what tests lay into a cluster before the programs under test start.
const fieldOwner = client.FieldOwner("test-setup")

const (
	establishedTimeout = time.Minute
	establishedPoll    = 50 * time.Millisecond
)

// Decode reads all objects of a YAML stream; empty documents are left out.
func Decode(stream []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(stream), 4096)
	for {
		object := &unstructured.Unstructured{}
		switch err := decoder.Decode(object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("decode manifest %d: %w", len(objects)+1, err)
		case len(object.Object) > 0:
			objects = append(objects, object)
		}
	}
}

// DecodePaths reads the objects of files and folders; of a folder, all *.yaml files but
// a kustomization.yaml, which is no manifest.
func DecodePaths(paths ...string) ([]client.Object, error) {
	var objects []client.Object
	for _, path := range paths {
		files, err := manifestFiles(path)
		if err != nil {
			return nil, fmt.Errorf("read manifests of %s: %w", path, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read manifests: %w", err)
			}
			decoded, err := Decode(content)
			if err != nil {
				return nil, fmt.Errorf("read manifests of %s: %w", file, err)
			}
			for _, object := range decoded {
				objects = append(objects, object)
			}
		}
	}
	return objects, nil
}

func manifestFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
	return slices.DeleteFunc(files, func(file string) bool {
		return filepath.Base(file) == "kustomization.yaml"
	}), err
}

// Apply creates or updates objects by server-side apply, in the order given, and
// waits until each CustomResourceDefinition among them is served.
func Apply(ctx context.Context, c client.Client, objects ...client.Object) error {
	return ApplyAs(ctx, c, fieldOwner, objects...)
}

// ApplyAs is Apply by another owner of the fields.
func ApplyAs(ctx context.Context, c client.Client, owner client.FieldOwner, objects ...client.Object) error {
	var definitions []string
	for _, object := range objects {
		applied, err := toUnstructured(c, object)
		if err != nil {
			return err
		}
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), owner, client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s: %w", applied.GetKind(), client.ObjectKeyFromObject(applied), err)
		}
		if applied.GetKind() == "CustomResourceDefinition" {
			definitions = append(definitions, applied.GetName())
		}
	}
	for _, name := range definitions {
		if err := waitUntilServed(ctx, c, name); err != nil {
			return err
		}
	}
	return nil
}

// ApplyPaths applies the manifests of files and folders.
func ApplyPaths(ctx context.Context, c client.Client, paths ...string) error {
	objects, err := DecodePaths(paths...)
	if err != nil {
		return err
	}
	return Apply(ctx, c, objects...)
}

func toUnstructured(c client.Client, object client.Object) (*unstructured.Unstructured, error) {
	if already, ok := object.(*unstructured.Unstructured); ok {
		return already.DeepCopy(), nil
	}
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return nil, fmt.Errorf("find kind of %s: %w", object.GetName(), err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("convert %s %s: %w", kind.Kind, object.GetName(), err)
	}
	converted := &unstructured.Unstructured{Object: content}
	converted.SetGroupVersionKind(kind)
	// An empty status in an apply would claim its fields.
	unstructured.RemoveNestedField(converted.Object, "status")
	unstructured.RemoveNestedField(converted.Object, "metadata", "creationTimestamp")
	return converted, nil
}

func waitUntilServed(ctx context.Context, c client.Client, name string) error {
	err := wait.PollUntilContextTimeout(ctx, establishedPoll, establishedTimeout, true, func(ctx context.Context) (bool, error) {
		definition := &unstructured.Unstructured{}
		definition.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
		if err := c.Get(ctx, client.ObjectKey{Name: name}, definition); err != nil {
			return false, err
		}
		// An error is a null, which the list is until somebody has written it.
		conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
		for _, condition := range conditions {
			fields, _ := condition.(map[string]any)
			if fields["type"] == string(apiextensionsv1.Established) {
				return fields["status"] == "True", nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is served: %w", name, err)
	}
	return nil
}
