// Package crd holds the CustomResourceDefinitions of the operator, for those who look at
// manifests without a cluster.
package crd

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed bases/*.yaml
var bases embed.FS

// Definitions are all of them, in the order of their files.
func Definitions() ([]apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	var definitions []apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		content, err := bases.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", file, err)
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &definition); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", file, err)
		}
		definitions = append(definitions, definition)
	}
	return definitions, nil
}
