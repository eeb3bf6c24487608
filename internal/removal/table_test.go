package removal_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/internal/removal/removals"
)

// TestTable has three API servers end with the same objects: one that stores managed
// fields, and two that do not.
func TestTable(t *testing.T) {
	table := removals.Table()
	if len(table) < 30 {
		t.Errorf("%d removals, want 30", len(table))
	}
	for _, row := range table {
		want, err := row.Wanted()
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range map[string]*server{
			"managed fields are stored": customResources(t),
			"lists are merged":          merging(t, withSchema(t)),
			"lists are replaced":        replacing(t, withSchema(t)),
		} {
			t.Run(row.Name+"/"+name, func(t *testing.T) {
				play(t, s, row)
				if got := s.content(); !reflect.DeepEqual(got, want) {
					t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
				}
			})
		}
	}
}

func play(t *testing.T, s *server, row removals.Removal) {
	t.Helper()
	if row.Existing != "" {
		existing := &unstructured.Unstructured{Object: parse(t, row.Existing)}
		existing.SetName("db")
		s.store(t, s.fields.UpdateNoErrors(s.live(), existing, "console").(*unstructured.Unstructured))
	}
	for i, commit := range row.Commits {
		s.apply(t, parse(t, commit))
		if i < len(row.Edits) && row.Edits[i] != "" {
			patch, err := yaml.YAMLToJSON([]byte(row.Edits[i]))
			if err != nil {
				t.Fatal(err)
			}
			s.edit(t, patch)
		}
	}
}

func text(t testing.TB, content any) string {
	t.Helper()
	encoded, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}
