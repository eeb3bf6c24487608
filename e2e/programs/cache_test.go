package programs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// tinyBuilder has one program, of a module that lies beside the go.mod that pins it.
func tinyBuilder(t *testing.T) builder {
	t.Helper()
	root := t.TempDir()
	group := filepath.Join(root, "tools", "tiny")
	write(t, filepath.Join(group, "go.mod"), `module example.org/tools/tiny

go 1.26.0

require example.org/tiny v1.2.3

replace example.org/tiny => ./source
`)
	write(t, filepath.Join(group, "source", "go.mod"), "module example.org/tiny\n\ngo 1.26.0\n")
	write(t, filepath.Join(group, "source", "main.go"), `package main

var version = "none"

func main() { println(version) }
`)
	return builder{
		tools: filepath.Join(root, "tools"), cache: filepath.Join(root, "cache"), goVersion: "go1.26",
		table: []Program{{
			Name: "tiny", Group: "tiny", Module: "example.org/tiny",
			Stamp: func(version string) map[string]string { return map[string]string{"main.version": version} },
		}},
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func resolveTiny(t *testing.T, b builder) target {
	t.Helper()
	resolved, err := b.target("tiny")
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestProgramIsBuiltOnceAndStampedWithItsVersion(t *testing.T) {
	b := tinyBuilder(t)
	var progress bytes.Buffer
	for range 2 {
		if err := b.buildAll(t.Context(), []string{"tiny"}, &progress); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(progress.String()), "\n")
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "[1/1] tiny v1.2.3: built in ") || lines[1] != "[1/1] tiny v1.2.3: cached" {
		t.Errorf("progress lines: %q", lines)
	}
	output, err := exec.Command(resolveTiny(t, b).binary).CombinedOutput()
	if err != nil || strings.TrimSpace(string(output)) != "v1.2.3" {
		t.Errorf("program says %q, %v; want v1.2.3", output, err)
	}
}

func TestKeyChangesWithEverythingThatABinaryIsMadeOf(t *testing.T) {
	b := tinyBuilder(t)
	goMod := filepath.Join(b.tools, "tiny", "go.mod")
	original, err := os.ReadFile(goMod)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{resolveTiny(t, b).binary: "nothing"}
	note := func(changed string) {
		t.Helper()
		binary := resolveTiny(t, b).binary
		if before, known := seen[binary]; known {
			t.Errorf("the key after a change of %s is the one after a change of %s", changed, before)
		}
		seen[binary] = changed
	}

	write(t, goMod, string(original)+"// another line\n")
	note("go.mod")
	write(t, filepath.Join(b.tools, "tiny", "go.sum"), "example.org/other v1.0.0/go.mod h1:=\n")
	note("go.sum")
	b.goVersion = "go1.27"
	note("the Go version")
	b.table[0].Stamp = nil
	note("link flags")
}

func TestTwoProcessesAtOnceBuildOnce(t *testing.T) {
	b := tinyBuilder(t)
	tiny := resolveTiny(t, b)
	var group sync.WaitGroup
	built := make([]bool, 4)
	for i := range built {
		group.Go(func() {
			var err error
			// Each call opens the lock file anew, as another process would.
			if built[i], err = b.ensure(t.Context(), tiny); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	count := 0
	for _, one := range built {
		if one {
			count++
		}
	}
	if count != 1 {
		t.Errorf("%d of %d calls built, want 1", count, len(built))
	}
}

func TestWaitForALockEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second lock: %v, want deadline exceeded", err)
	}
	unlock()
	again, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatalf("lock after it was given back: %v", err)
	}
	again()
}

func TestABuildThatFailsLeavesNoProgramAndShowsTheCompilersWords(t *testing.T) {
	b := tinyBuilder(t)
	write(t, filepath.Join(b.tools, "tiny", "source", "main.go"), "package main\n\nfunc main() { undefinedName() }\n")
	err := b.buildAll(t.Context(), []string{"tiny"}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "undefinedName") {
		t.Errorf("error: %v, want one with the compiler's words", err)
	}
	if resolveTiny(t, b).cached() {
		t.Error("a program that does not compile is in the cache")
	}
}

func TestEveryProgramOfTheTableIsPinned(t *testing.T) {
	b, err := newBuilder()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range table {
		resolved, err := b.resolve(program)
		if err != nil {
			t.Errorf("%s: %v", program.Name, err)
			continue
		}
		if !strings.Contains(string(resolved.pins.goMod), program.ImportPath()) {
			t.Errorf("%s: tools/%s/go.mod names no tool %s", program.Name, program.Group, program.ImportPath())
		}
	}
}
