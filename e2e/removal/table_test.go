package removal_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/internal/removal/removals"
)

// TestTableOfRemovals commits all removals of the table at once, and edits by another hand
// between. Both ways of serving applications are held against the same table.
func TestTableOfRemovals(t *testing.T) {
	operator.AwaitReady(t)
	const tenant = "tenant-removals"
	rows := removals.Table()
	git := newTwoSources(t, tenant)
	for _, row := range rows {
		if row.Existing != "" {
			createExisting(t, tenant, row)
		}
	}
	for step := range 3 {
		var files [2]map[string]string
		var left [2][]string
		for _, row := range rows {
			if step >= len(row.Commits) {
				continue
			}
			source := row.Source(step)
			put(&files[source], fileOf(row), manifest(t, row, row.Commits[step]))
			if step > 0 && row.Source(step-1) != source {
				left[row.Source(step-1)] = append(left[row.Source(step-1)], fileOf(row))
			}
		}
		// What moves is in its new place before it leaves the old one; in between both have
		// it, so that only with the second commit each is applied.
		var commits [2]string
		for source := range files {
			commits[source] = git.push(t, source, files[source])
		}
		for source := range left {
			if len(left[source]) > 0 {
				commits[source] = git.push(t, source, nil, left[source]...)
			}
		}
		for source, commit := range commits {
			if commit != "" {
				git.awaitApplied(t, source, commit)
			}
		}
		for _, row := range rows {
			if step < len(row.Edits) && row.Edits[step] != "" {
				edit(t, tenant, row.Name, row.Edits[step])
			}
		}
	}
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			want, err := row.Wanted()
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, tenant, row.Name); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
			}
		})
	}
}

// TestTableIsOfTheFixturesSchema keeps the table about what the clusters serve.
func TestTableIsOfTheFixturesSchema(t *testing.T) {
	definition := definitionOf(t, "postgres")
	var served, known any
	if err := json.Unmarshal([]byte(definition), &served); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(removals.Schema), &known); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(served, known) {
		t.Errorf("the cluster's schema is\n%s\nand the table's\n%s", definition, removals.Schema)
	}
}

func fileOf(row removals.Removal) string { return "apps/" + row.Name + ".yaml" }

func put(files *map[string]string, name, content string) {
	if *files == nil {
		*files = map[string]string{}
	}
	(*files)[name] = content
}

// manifest is a row's content as a file in git.
func manifest(t *testing.T, row removals.Removal, content string) string {
	t.Helper()
	object, err := removals.Object(content)
	if err != nil {
		t.Fatal(err)
	}
	object.SetName(row.Name)
	encoded, err := yaml.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// anotherHand is whom the other fields belong to, where managed fields are stored.
const anotherHand = client.FieldOwner("console")

func createExisting(t *testing.T, tenant string, row removals.Removal) {
	t.Helper()
	object, err := removals.Object(row.Existing)
	if err != nil {
		t.Fatal(err)
	}
	object.SetNamespace(tenant)
	object.SetName(row.Name)
	if err := cluster.Client.Create(t.Context(), object, anotherHand); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, tenant, name, patch string) {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	object := fixtures.Application("Postgres", tenant, name)
	if err := cluster.Client.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", encoded), anotherHand); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, tenant, name string) removals.Content {
	t.Helper()
	object := fixtures.Application("Postgres", tenant, name)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return removals.ContentOf(object)
}

func text(t *testing.T, content any) string {
	t.Helper()
	encoded, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
