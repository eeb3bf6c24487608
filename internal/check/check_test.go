package check

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsWritten: a check leaves the tree as it is, also where Flux would make a
// kustomization.yaml.
func TestNothingIsWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	write(t, dir, "overlay/kustomization.yaml", "resources: [b.yaml]\n")
	write(t, dir, "overlay/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n")
	before := content(t, dir)
	report, err := Run(Options{Dir: dir})
	if err != nil || report.Objects != 2 || len(report.Findings) > 0 {
		t.Fatalf("%+v: %v", report, err)
	}
	if after := content(t, dir); after != before {
		t.Errorf("the tree was\n%s\nand is\n%s", before, after)
	}
}

// TestRootIsTheRepository: bases are found in all of the repository, whose root is where .git is.
func TestRootIsTheRepository(t *testing.T) {
	repository := t.TempDir()
	write(t, repository, ".git/HEAD", "ref: refs/heads/main\n")
	write(t, repository, "base/kustomization.yaml", "resources: [a.yaml]\n")
	write(t, repository, "base/a.yaml", "apiVersion: gitops.cozystack.io/v1alpha1\nkind: Other\nmetadata: {name: a}\n")
	write(t, repository, "clusters/acme/kustomization.yaml", "resources: [../../base]\n")
	report, err := Run(Options{Dir: filepath.Join(repository, "clusters", "acme")})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Path != "base/a.yaml" || report.Findings[0].Line != 2 {
		t.Errorf("%+v: %v", report, err)
	}
	// What cannot be built is explained all the same.
	write(t, repository, "wrong.yaml", "a: [\n")
	if whole, err := Run(Options{Dir: repository}); err != nil || len(whole.Findings) != 1 || whole.Findings[0].Path != "wrong.yaml" {
		t.Errorf("the whole repository: %+v: %v", whole, err)
	}
	narrow, err := Run(Options{Dir: filepath.Join(repository, "clusters", "acme"), Root: filepath.Join(repository, "clusters")})
	if err != nil || len(narrow.Findings) != 1 || !strings.Contains(narrow.Findings[0].Message, "outside of the repository") {
		t.Errorf("with a root below the base: %+v: %v", narrow, err)
	}
}

// TestWhatCannotBeChecked: no folder, no export, and an export without Packages.
func TestWhatCannotBeChecked(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file.yaml", "{}\n")
	for name, options := range map[string]Options{
		"no such folder":        {Dir: filepath.Join(dir, "absent")},
		"a file":                {Dir: filepath.Join(dir, "file.yaml")},
		"outside of the root":   {Dir: dir, Root: t.TempDir()},
		"no such root":          {Dir: dir, Root: filepath.Join(dir, "absent")},
		"the root is no folder": {Dir: dir, Root: filepath.Join(dir, "file.yaml")},
	} {
		if report, err := Run(options); err == nil {
			t.Errorf("%s: %+v", name, report)
		}
	}
	for name, export := range map[string]string{"empty": "", "no YAML": "{", "no Package": "apiVersion: v1\nkind: List\nitems: []\n", "another shape": "apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: a}\nspec: {components: [1]}\n"} {
		write(t, dir, "export.yaml", export)
		if _, err := ReadExport(filepath.Join(dir, "export.yaml")); err == nil {
			t.Errorf("an export is read that is %s", name)
		}
	}
}

// TestSecretsStayUntold: no finding repeats a value.
func TestSecretsStayUntold(t *testing.T) {
	const secret = "correct-horse-battery"
	dir := t.TempDir()
	write(t, dir, "a.yaml", `apiVersion: cozystack.io/v1alpha1
kind: PackageValues
metadata: {name: cozystack.db}
spec:
  components:
    db:
      values:
        password: `+secret+`
        users: [{name: `+secret+`}, {name: `+secret+`}]
      unset: [password]
      listMerge: [{path: users, strategy: MergeByKey, key: name}]
---
apiVersion: v1
kind: Secret
metadata: {name: plain}
stringData: {password: `+secret+`}
`)
	report, err := Run(Options{Dir: dir})
	if err != nil || len(report.Findings) < 2 {
		t.Fatalf("%+v: %v", report, err)
	}
	for _, finding := range report.Findings {
		if strings.Contains(finding.String(), secret) {
			t.Errorf("a value is told: %s", finding)
		}
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// content is every file of a folder, with its content.
func content(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := fs.ReadFile(files, path)
		all.WriteString(path + "\n" + string(file))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
