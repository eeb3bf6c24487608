// Package removals is a table of what can leave git, and of what must be left then. Tests
// hold it against the field manager of the API server and against real clusters.
package removals

// Removal is an application whose manifest changes in git.
type Removal struct {
	// Name of the application, and what is removed.
	Name string
	// Existing is what another hand has created before git came, in YAML; empty for
	// nothing.
	Existing string
	// Commits are the manifest's content, one commit after the other, in YAML.
	Commits []string
	// Edits are merge patches of another hand, in YAML: the first one follows the first
	// commit. An empty one is none.
	Edits []string
	// Sources that the commits go to, by their number; nil for the first one. What goes
	// to another source is removed from the one before afterwards.
	Sources []int
	// Want is what the application has in the end, in YAML, but for the schema's defaults.
	Want string
}

// Source is where a commit goes to.
func (r Removal) Source(commit int) int {
	if commit < len(r.Sources) {
		return r.Sources[commit]
	}
	return 0
}

// Schema of the applications' spec, with a value of each sort.
const Schema = `{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
	"replicas": {"type": "integer", "default": 2},
	"size": {"type": "string", "default": "10Gi"},
	"external": {"type": "boolean", "default": false},
	"password": {"type": "string"},
	"resources": {"type": "object", "default": {}, "properties": {
		"preset": {"type": "string", "default": "small"}, "cpu": {"type": "string"}, "memory": {"type": "string"}}},
	"backup": {"type": "object", "properties": {
		"schedule": {"type": "string"},
		"retention": {"type": "object", "properties": {
			"days": {"type": "integer", "default": 7}, "copies": {"type": "integer"}}}}},
	"parameters": {"type": "object", "additionalProperties": {"type": "string"}},
	"users": {"type": "object", "additionalProperties": {"type": "object", "properties": {
		"password": {"type": "string"}, "readOnly": {"type": "boolean", "default": false},
		"grants": {"type": "array", "items": {"type": "string"}}}}},
	"allowedRanges": {"type": "array", "items": {"type": "string"}},
	"extensions": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
	"databases": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
		"items": {"type": "object", "required": ["name"], "properties": {
			"name": {"type": "string"}, "owner": {"type": "string"}, "locale": {"type": "string", "default": "C"},
			"labels": {"type": "object", "additionalProperties": {"type": "string"}}}}}}}`

// Table lists removals.
func Table() []Removal {
	var table []Removal
	for _, part := range [][]Removal{ofKeys(), inMaps(), inLists(), ofMetadata(), besideOthers(), moves()} {
		table = append(table, part...)
	}
	return table
}

func ofKeys() []Removal {
	return []Removal{
		{Name: "key", Commits: []string{`spec: {password: a, size: 1Gi}`, `spec: {size: 1Gi}`}, Want: `spec: {size: 1Gi}`},
		{Name: "key-with-a-default", Commits: []string{`spec: {replicas: 5, password: a}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "key-in-a-map-with-a-default", Commits: []string{`spec: {resources: {preset: large, cpu: "2"}}`, `spec: {resources: {cpu: "2"}}`}, Want: `spec: {resources: {cpu: "2"}}`},
		{Name: "map-with-a-default", Commits: []string{`spec: {resources: {preset: large, cpu: "2"}, password: a}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "renamed-key", Commits: []string{`spec: {custom: {old: 1}}`, `spec: {custom: {new: 1}}`}, Want: `spec: {custom: {new: 1}}`},
		{Name: "back-again", Commits: []string{`spec: {password: a, size: 1Gi}`, `spec: {size: 1Gi}`, `spec: {password: b, size: 1Gi}`}, Want: `spec: {password: b, size: 1Gi}`},
		{Name: "null", Commits: []string{`spec: {custom: {a: null, b: 1}, password: a}`, `spec: {custom: {b: 1}, password: a}`}, Want: `spec: {custom: {b: 1}, password: a}`},
		{Name: "other-type", Commits: []string{`spec: {custom: {a: {b: 1, c: 2}}}`, `spec: {custom: {a: [x]}}`, `spec: {custom: {a: {c: 3}}}`}, Want: `spec: {custom: {a: {c: 3}}}`},
		{Name: "the-whole-spec", Commits: []string{`spec: {password: a, replicas: 7, custom: {a: 1}}`, `spec: {}`}, Want: `spec: {}`},
	}
}

func inMaps() []Removal {
	return []Removal{
		{Name: "deep-key", Commits: []string{`spec: {backup: {schedule: daily, retention: {days: 9, copies: 3}}}`, `spec: {backup: {schedule: daily, retention: {days: 9}}}`}, Want: `spec: {backup: {schedule: daily, retention: {days: 9}}}`},
		{Name: "map-with-defaults-in-it", Commits: []string{`spec: {backup: {schedule: daily, retention: {copies: 3}}}`, `spec: {backup: {schedule: daily}}`}, Want: `spec: {backup: {schedule: daily}}`},
		{Name: "key-without-a-schema", Commits: []string{`spec: {custom: {a: {b: {c: 1, d: 2}}}}`, `spec: {custom: {a: {b: {d: 2}}}}`}, Want: `spec: {custom: {a: {b: {d: 2}}}}`},
		{Name: "empty-map", Commits: []string{`spec: {parameters: {}, password: a}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "entry-of-a-map", Commits: []string{`spec: {users: {ann: {password: a, readOnly: true}, bob: {password: b}}}`, `spec: {users: {ann: {password: a}}}`}, Want: `spec: {users: {ann: {password: a, readOnly: false}}}`},
		{Name: "odd-keys", Commits: []string{`spec: {parameters: {"a.b/c": "1", 'with "quotes"': "2", "~1": "3", "": "4", kept.one: "5"}}`, `spec: {parameters: {kept.one: "5"}}`}, Want: `spec: {parameters: {kept.one: "5"}}`},
	}
}

func inLists() []Removal {
	return []Removal{
		{Name: "item-of-an-atomic-list", Commits: []string{`spec: {allowedRanges: [a, b, c]}`, `spec: {allowedRanges: [a, c]}`}, Want: `spec: {allowedRanges: [a, c]}`},
		{Name: "atomic-list", Commits: []string{`spec: {allowedRanges: [a, b], password: a}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "item-of-a-set", Commits: []string{`spec: {extensions: [a, b, c]}`, `spec: {extensions: [a, c]}`}, Edits: []string{`spec: {extensions: [a, b, c, other]}`}, Want: `spec: {extensions: [a, c, other]}`},
		{Name: "set", Commits: []string{`spec: {extensions: [a, b], password: a}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "item-by-key", Commits: []string{`spec: {databases: [{name: one, owner: a}, {name: two, owner: b}]}`, `spec: {databases: [{name: two, owner: b}]}`}, Want: `spec: {databases: [{name: two, owner: b, locale: C}]}`},
		{Name: "key-in-an-item", Commits: []string{`spec: {databases: [{name: one, owner: a, locale: de, labels: {one: "1", two: "2"}}]}`, `spec: {databases: [{name: one, labels: {two: "2"}}]}`}, Want: `spec: {databases: [{name: one, locale: C, labels: {two: "2"}}]}`},
		{Name: "items-of-others", Commits: []string{`spec: {databases: [{name: one}, {name: two}]}`, `spec: {databases: [{name: one}]}`}, Edits: []string{`spec: {databases: [{name: one}, {name: two}, {name: other, owner: them}]}`}, Want: `spec: {databases: [{name: one, locale: C}, {name: other, owner: them, locale: C}]}`},
		{Name: "list-in-a-map", Commits: []string{`spec: {users: {ann: {grants: [a, b]}}}`, `spec: {users: {ann: {password: a}}}`}, Want: `spec: {users: {ann: {password: a, readOnly: false}}}`},
	}
}

func ofMetadata() []Removal {
	return []Removal{
		{Name: "label", Commits: []string{`{metadata: {labels: {team: a, "example.org/tier": gold}}}`, `{metadata: {labels: {team: a}}}`}, Want: `{metadata: {labels: {team: a}}}`},
		{Name: "annotation", Commits: []string{`{metadata: {annotations: {note: "a \"b\"", "example.org/mail": x}}, spec: {password: a}}`, `spec: {password: a}`}, Want: `spec: {password: a}`},
		{Name: "label-beside-one-of-others", Commits: []string{`{metadata: {labels: {team: a}}}`, `spec: {password: a}`}, Edits: []string{`{metadata: {labels: {theirs: b}, annotations: {theirs: c}}}`}, Want: `{metadata: {labels: {theirs: b}, annotations: {theirs: c}}, spec: {password: a}}`},
	}
}

func besideOthers() []Removal {
	return []Removal{
		{Name: "key-beside-one-of-others", Commits: []string{`spec: {backup: {schedule: daily}}`, `spec: {password: a}`}, Edits: []string{`spec: {backup: {retention: {copies: 4}}}`}, Want: `spec: {password: a, backup: {retention: {days: 7, copies: 4}}}`},
		{Name: "adoption", Existing: `{metadata: {labels: {theirs: a}}, spec: {password: theirs, parameters: {a: "1"}}}`, Commits: []string{`spec: {size: 1Gi}`, `spec: {external: true}`}, Want: `{metadata: {labels: {theirs: a}}, spec: {external: true, password: theirs, parameters: {a: "1"}}}`},
		{Name: "adopted-key", Existing: `spec: {password: theirs, parameters: {a: "1", b: "2"}}`, Commits: []string{`spec: {password: mine, parameters: {a: "3"}}`, `spec: {external: true}`}, Want: `spec: {external: true, parameters: {b: "2"}}`},
	}
}

func moves() []Removal {
	return []Removal{
		{Name: "move-to-another-source", Commits: []string{`spec: {password: a, parameters: {a: "1"}}`, `spec: {parameters: {b: "2"}}`}, Sources: []int{0, 1}, Want: `spec: {parameters: {b: "2"}}`},
		{Name: "two-sources-in-turn", Commits: []string{`spec: {password: a, custom: {first: 1}}`, `spec: {custom: {second: 2}}`, `spec: {custom: {third: 3}}`}, Sources: []int{0, 1, 0}, Want: `spec: {custom: {third: 3}}`},
	}
}
