package main

import (
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestDryRunWrites(t *testing.T) {
	newTenant(t, "tenant-dryrun")
	file := filepath.Join(t.TempDir(), "app.yaml")
	run := func(size string, args ...string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(fixtures.Postgres("db", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cluster.Kubectl(t.Context(), append(args, "-n", "tenant-dryrun", "-f", file)...); err != nil {
			t.Fatal(err)
		}
	}
	run("1Gi", "create", "--dry-run=server")
	want(t, stored(t, "Postgres", "tenant-dryrun", "db"), "1Gi", "spec", "values", "size")
	run("2Gi", "apply", "--server-side", "--force-conflicts", "--dry-run=server")
	want(t, stored(t, "Postgres", "tenant-dryrun", "db"), "2Gi", "spec", "values", "size")
	run("2Gi", "delete", "--dry-run=server")
	object := fixtures.Application("Postgres", "tenant-dryrun", "db")
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
		t.Errorf("after the dry run of a deletion: %v, want not found", err)
	}
}
