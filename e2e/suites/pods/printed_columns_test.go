//go:build kind

package pods_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// shownDigits is how much of a commit fits into a column.
const shownDigits = 12

// TestKubectlPrintsTheState reads what an admin reads.
func TestKubectlPrintsTheState(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-printed"
	_, commit := stage.Enable(t, tenant, map[string]string{
		"db.yaml":    fixtures.Postgres("db", "1Gi"),
		"cache.yaml": fixtures.Redis("cache", 1),
	}, nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	harness.AwaitCondition(t, stage.Client, tenant, "True", "")
	table, err := stage.Kubectl(t.Context(), "get", "tenantgitops", "-A")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if columns := strings.Fields(lines[0]); !slices.Equal(columns, []string{"NAMESPACE", "NAME", "READY", "REVISION", "APPS", "STATUS", "AGE"}) {
		t.Errorf("the columns are %v", columns)
	}
	row := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, tenant+" ") })
	if row < 0 {
		t.Fatalf("no line of %s in:\n%s", tenant, table)
	}
	if cells := strings.Fields(lines[row]); len(cells) < 5 || !slices.Equal(cells[1:5], []string{"gitops", "True", "main@sha1:" + commit[:shownDigits], "2"}) {
		t.Errorf("the line is %q", lines[row])
	}
}
