package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

// Commands are those of the block of a repository's README that follows <!-- test: name -->.
func Commands(t *testing.T, dir, name string) string {
	t.Helper()
	_, after, found := strings.Cut(Files(t, dir)["README.md"], "<!-- test: "+name+" -->\n```sh\n")
	commands, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatalf("the README of %s has no commands %q", dir, name)
	}
	return commands
}

// Run runs the commands of a README as a person would, in a copy of the repository, and returns
// what they print, within harness.Patience. The environment has nothing of who runs the tests.
func Run(t *testing.T, dir, name string, tools map[string]string, environment ...string) string {
	t.Helper()
	bin := t.TempDir()
	for tool, path := range tools {
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", Commands(t, dir, name))
	command.Dir = dir
	command.Env = append([]string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + bin}, environment...)
	// What the commands have started and is still there then is not waited for.
	command.WaitDelay = time.Second
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("the commands %q of %s: %v: %s", name, dir, err, output)
	}
	return string(output)
}

// Program is where a program lies that the commands run.
func Program(t *testing.T, name string) string {
	t.Helper()
	path, err := programs.Path(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
