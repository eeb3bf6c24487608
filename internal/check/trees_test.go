package check

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is found into the want.txt files")

// TestTrees checks a tree of each kind of trouble, and compares with what is to be found.
// A folder of testdata has the tree; dir, the folder of it that is checked; tenant, where it is
// a tenant's; and packages.yaml, what the cluster has.
func TestTrees(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d trees: %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			options := Options{Root: filepath.Join(folder, "tree"), Dir: filepath.Join(folder, "tree")}
			if dir, err := os.ReadFile(filepath.Join(folder, "dir")); err == nil {
				options.Dir = filepath.Join(options.Root, strings.TrimSpace(string(dir)))
			}
			_, err := os.Stat(filepath.Join(folder, "tenant"))
			options.Tenant = err == nil
			export := filepath.Join(folder, "packages.yaml")
			if _, err := os.Stat(export); err == nil {
				if options.Export, err = ReadExport(export); err != nil {
					t.Fatal(err)
				}
			}
			report, err := Run(options)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, finding := range report.Findings {
				_, _ = fmt.Fprintln(&got, finding)
			}
			golden := filepath.Join(folder, "want.txt")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != string(want) {
				t.Errorf("found\n%s\nwant\n%s", &got, want)
			}
		})
	}
}
