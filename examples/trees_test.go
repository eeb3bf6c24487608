package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/e2e/examples"
	"github.com/cozystack/gitops-operator/internal/check"
)

const (
	root = ".."
	// exported is what a cluster has of the Packages of the admin's example.
	exported = root + "/e2e/examples/testdata/packages.yaml"
)

// TestExamplesPassTheCheck: nothing that is found, not even a warning; of the admin's, with what a
// cluster has of Packages and without.
func TestExamplesPassTheCheck(t *testing.T) {
	export, err := check.ReadExport(exported)
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range examples.Environments {
		for name, c := range map[string]struct {
			options check.Options
			objects int
		}{
			"admin":                {check.Options{Root: examples.AdminDir(root), Export: export}, len(examples.AdminWanted(environment))},
			"admin without export": {check.Options{Root: examples.AdminDir(root)}, len(examples.AdminWanted(environment))},
			"tenant":               {check.Options{Root: examples.TenantDir(root), Tenant: true}, len(examples.TenantWanted(environment))},
		} {
			t.Run(environment+" "+name, func(t *testing.T) {
				c.options.Dir = filepath.Join(c.options.Root, "overlays", environment)
				wantNothingFound(t, c.options, c.objects)
			})
		}
	}
}

// TestExampleObjectsPassTheCheck: the Customizers and the TenantGitOps, which no overlay lists, and
// the Customizer of docs/platform-gitops.md.
func TestExampleObjectsPassTheCheck(t *testing.T) {
	files := []string{filepath.Join(examples.TenantDir(root), "tenantgitops.yaml")}
	for _, environment := range examples.Environments {
		files = append(files, filepath.Join(examples.AdminDir(root), "overlays", environment, "customizer.yaml"))
	}
	contents := []string{secondCustomizer(t)}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(content))
	}
	for _, content := range contents {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "object.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		wantNothingFound(t, check.Options{Dir: dir}, 1)
	}
}

// secondCustomizer is that of docs/platform-gitops.md.
func secondCustomizer(t *testing.T) string {
	t.Helper()
	_, after, found := strings.Cut(examples.Files(t, root+"/docs")["platform-gitops.md"], "<!-- test: second -->\n```yaml\n")
	manifest, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("the document has no second Customizer")
	}
	return manifest
}

// TestOverlaysAreBuilt: each comes to the objects that tests expect of it, and to others than the
// other one.
func TestOverlaysAreBuilt(t *testing.T) {
	for dir, wanted := range map[string]func(string) []examples.Wanted{
		examples.AdminDir(root):  examples.AdminWanted,
		examples.TenantDir(root): examples.TenantWanted,
	} {
		built := map[string]string{}
		for _, environment := range examples.Environments {
			var names, want []string
			for _, object := range examples.Build(t, dir, environment) {
				names = append(names, object.GetKind()+" "+object.GetName())
				built[environment] += fmt.Sprintln(object.Object)
			}
			for _, object := range wanted(environment) {
				want = append(want, object.Kind+" "+object.Name)
			}
			slices.Sort(names)
			slices.Sort(want)
			if !slices.Equal(names, want) {
				t.Errorf("the overlay %s of %s comes to %v, want %v", environment, dir, names, want)
			}
		}
		if built[examples.Production] == built[examples.Staging] {
			t.Errorf("the overlays of %s come to the same", dir)
		}
	}
}

// TestObjectsLeadToTheOverlays: the paths of the Customizers and of the TenantGitOps are there.
func TestObjectsLeadToTheOverlays(t *testing.T) {
	paths := map[string]string{}
	for _, environment := range examples.Environments {
		paths["overlays/"+environment+"/customizer.yaml"] = filepath.Join(examples.AdminDir(root), examples.AdminCustomizer(t, root, environment).Spec.Kustomization.Path)
		if !strings.HasSuffix(paths["overlays/"+environment+"/customizer.yaml"], environment) {
			t.Errorf("the Customizer of %s is for %s", environment, paths["overlays/"+environment+"/customizer.yaml"])
		}
	}
	for _, source := range examples.TenantObject(t, root).Spec.Sources {
		paths["source "+source.Name] = filepath.Join(examples.TenantDir(root), source.Path)
	}
	if len(paths) != 4 {
		t.Errorf("%d objects and sources, want 4", len(paths))
	}
	for what, path := range paths {
		if _, err := os.Stat(filepath.Join(path, "kustomization.yaml")); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestEncryptedSecretIsForTheKeyOfTheExample: it can be read with that, and not without.
func TestEncryptedSecretIsForTheKeyOfTheExample(t *testing.T) {
	file := filepath.Join(examples.AdminDir(root), "secrets", "pager.yaml")
	if encrypted, err := os.ReadFile(file); err != nil || strings.Contains(string(encrypted), examples.Token) {
		t.Fatalf("what is encrypted can be read: %s: %v", encrypted, err)
	}
	decrypt := func(environment ...string) (string, error) {
		command := exec.CommandContext(t.Context(), examples.Program(t, "sops"), "decrypt", file)
		// No key of who runs the tests.
		command.Env = append([]string{"HOME=" + t.TempDir()}, environment...)
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := decrypt("SOPS_AGE_KEY_FILE=" + examples.IdentityFile(root)); err != nil || !strings.Contains(output, "token: "+examples.Token+"\n") {
		t.Errorf("with the key: %v: %s", err, output)
	}
	if output, err := decrypt(); err == nil {
		t.Errorf("without a key: %s", output)
	}
}

// TestAdminReadmeCommands types what the README of the admin's example says, but for the cluster:
// a Secret more, which passes the check and holds what was written.
func TestAdminReadmeCommands(t *testing.T) {
	dir := examples.Copy(t, examples.AdminDir(root))
	key, err := os.ReadFile(examples.IdentityFile(root))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "acme.agekey"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	tools := map[string]string{"sops": examples.Program(t, "sops"), "gitops-operator": operator(t)}
	examples.Run(t, dir, "secret", tools)
	if shown := examples.Run(t, dir, "shown", tools); !strings.Contains(shown, "password: correct-horse") {
		t.Errorf("sops shows %s", shown)
	}
	before := len(examples.AdminWanted(examples.Production))
	if checked := examples.Run(t, dir, "checked", tools); strings.Count(checked, fmt.Sprintf("0 errors and 0 warnings in %d objects\n", before+1)) != 2 {
		t.Errorf("the check prints %s", checked)
	}
	isMail := func(object *unstructured.Unstructured) bool { return object.GetName() == "mail" }
	objects := examples.Build(t, dir, examples.Production)
	found := slices.IndexFunc(objects, isMail)
	if found < 0 || strings.Contains(fmt.Sprint(objects[found].Object), "correct-horse") {
		t.Error("the Secret is not there, or not encrypted")
	}
}

// TestTenantReadmeCommands types the check of the tenant's README.
func TestTenantReadmeCommands(t *testing.T) {
	dir := examples.Copy(t, examples.TenantDir(root))
	checked := examples.Run(t, dir, "checked", map[string]string{"gitops-operator": operator(t)})
	if strings.Count(checked, "0 errors and 0 warnings in ") != 2 {
		t.Errorf("the check prints %s", checked)
	}
}

// operator builds the program.
func operator(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gitops-operator")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, root+"/cmd/gitops-operator").CombinedOutput(); err != nil {
		t.Fatalf("cannot build the operator: %v: %s", err, output)
	}
	return binary
}

func wantNothingFound(t *testing.T, options check.Options, objects int) {
	t.Helper()
	report, err := check.Run(options)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Findings) > 0 || report.Objects != objects {
		t.Errorf("%s: %d objects, want %d; found %v", options.Dir, report.Objects, objects, report.Findings)
	}
}
