package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// located is an object as it is written in a file.
type located struct {
	apiVersion, kind, namespace, name string
	node                              *yaml.Node
}

func (l located) String() string {
	if l.namespace == "" {
		return l.kind + " " + l.name
	}
	return l.kind + " " + l.namespace + "/" + l.name
}

// id is the same for two objects of which a cluster can have one only.
func (l located) id() string {
	group, _, found := strings.Cut(l.apiVersion, "/")
	if !found {
		group = ""
	}
	return strings.Join([]string{group, l.kind, l.namespace, l.name}, "/")
}

// locate finds the objects in a file, those in lists too.
func locate(content []byte) ([]located, error) {
	var found []located
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if len(document.Content) == 1 {
			found = append(found, objectsIn(document.Content[0])...)
		}
	}
}

func objectsIn(node *yaml.Node) []located {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	one := located{
		apiVersion: scalar(node, "apiVersion"), kind: scalar(node, "kind"), node: node,
		namespace: scalar(child(node, "metadata"), "namespace"), name: scalar(child(node, "metadata"), "name"),
	}
	items := child(node, "items")
	if !strings.HasSuffix(one.kind, "List") || items == nil {
		return []located{one}
	}
	var found []located
	for _, item := range items.Content {
		found = append(found, objectsIn(item)...)
	}
	return found
}

// child is what a map has under a key; nil where it has nothing, or is no map.
func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func scalar(node *yaml.Node, key string) string {
	if value := child(node, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// line of a field of the object, or of the nearest that is written around it.
func (l located) line(field ...string) int {
	node, line := l.node, l.node.Line
	for _, key := range field {
		if index, err := strconv.Atoi(key); err == nil && node.Kind == yaml.SequenceNode {
			if index >= len(node.Content) {
				return line
			}
			node = node.Content[index]
			line = node.Line
			continue
		}
		if node.Kind != yaml.MappingNode {
			return line
		}
		found := false
		for i := 0; i+1 < len(node.Content) && !found; i += 2 {
			if node.Content[i].Value == key {
				node, line, found = node.Content[i+1], node.Content[i].Line, true
			}
		}
		if !found {
			return line
		}
	}
	return line
}

// fieldPath reads a field as the API's errors write it: spec.sources[0].git, or
// spec.components[grafana].values.
func fieldPath(field string) []string {
	var path []string
	for _, part := range strings.Split(field, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name != "" {
			path = append(path, name)
		}
		if indexed {
			for _, index := range strings.Split(rest, "[") {
				path = append(path, strings.Trim(index, `]"`))
			}
		}
	}
	return path
}

// at makes a finding about a field of a document.
func (d document) at(field []string, level Level, rule Rule, format string, args ...any) Finding {
	finding := Finding{Path: d.path, Level: level, Rule: rule, Object: d.name(), Message: fmt.Sprintf(format, args...)}
	if d.place != nil {
		finding.Line = d.place.line(field...)
	}
	return finding
}

// name is kind and name, with the namespace if there is one.
func (d document) name() string {
	return located{kind: d.object.GetKind(), namespace: d.object.GetNamespace(), name: d.object.GetName()}.String()
}

func (d document) group() string { return d.object.GroupVersionKind().Group }
