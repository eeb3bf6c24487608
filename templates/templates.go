// Package templates holds every object that the operator stamps, as YAML that a
// cluster admin can read, and decodes it into typed objects. What depends on a
// spec is filled in by the typed builders (package stamp), never in the text.
package templates

import (
	"embed"
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"
)

//go:embed customizer/*.yaml seal/*.yaml tenant/*.yaml
var files embed.FS

// Variables replace ${name} in a template's strings.
type Variables map[string]string

var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// Decode reads the template at path into a T. Variables are replaced in the
// decoded strings, not in the text, so a value cannot change the structure. A
// variable that is not given, and a field that T does not have, are errors.
func Decode[T any](path string, variables Variables) (*T, error) {
	text, err := files.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read template %s: %w", path, err)
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("cannot parse template %s: %w", path, err)
	}
	tree, err = replace(tree, variables)
	if err != nil {
		return nil, fmt.Errorf("cannot fill in template %s: %w", path, err)
	}
	filled, err := yaml.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("cannot encode template %s: %w", path, err)
	}
	out := new(T)
	if err := yaml.UnmarshalStrict(filled, out); err != nil {
		return nil, fmt.Errorf("cannot decode template %s: %w", path, err)
	}
	return out, nil
}

func replace(node any, variables Variables) (any, error) {
	switch node := node.(type) {
	case string:
		var missing string
		text := variable.ReplaceAllStringFunc(node, func(match string) string {
			name := variable.FindStringSubmatch(match)[1]
			value, ok := variables[name]
			if !ok {
				missing = name
			}
			return value
		})
		if missing != "" {
			return nil, fmt.Errorf("no value for ${%s}", missing)
		}
		return text, nil
	case []any:
		for i := range node {
			item, err := replace(node[i], variables)
			if err != nil {
				return nil, err
			}
			node[i] = item
		}
		return node, nil
	case map[string]any:
		for key := range node {
			value, err := replace(node[key], variables)
			if err != nil {
				return nil, err
			}
			node[key] = value
		}
		return node, nil
	default:
		return node, nil
	}
}
