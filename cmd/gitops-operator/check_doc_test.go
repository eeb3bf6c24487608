package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestDocumentShowsWhatIsPrinted runs what docs/check.md runs, where its files are.
func TestDocumentShowsWhatIsPrinted(t *testing.T) {
	document, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	folders := map[string]string{checkCommand: "../../internal/check/testdata/export", diffCommand: "testdata/diff"}
	for name, folder := range folders {
		// In a folder that is in no repository.
		folders[name] = t.TempDir()
		if err := os.CopyFS(folders[name], os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, block := range strings.Split(string(document), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		args := strings.Fields(command)
		if len(args) < 3 || args[0] != "$" || args[1] != "gitops-operator" {
			t.Errorf("no command that can be run: %s", command)
			continue
		}
		ran++
		t.Chdir(folders[args[2]])
		var out, diagnostics bytes.Buffer
		switch args[2] {
		case checkCommand:
			err = runCheck(args[3:], &out, &diagnostics)
		case diffCommand:
			err = runDiff(t.Context(), args[3:], &out, &diagnostics)
		}
		if err == nil || err.Error() != "" || out.String() != want {
			t.Errorf("%s ended with %v and\n%s%s, want\n%s", command, err, &out, &diagnostics, want)
		}
	}
	if ran != 2 {
		t.Errorf("%d commands were run, want 2", ran)
	}
}
