package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"time"
)

// downloadTries is how often a build is begun that fails for want of a module: a
// proxy fetches what it was never asked for before, and may time out meanwhile.
const downloadTries = 4

// builder builds the programs of one table from one tools folder into one cache.
type builder struct {
	tools, cache string
	goVersion    string
	table        []Program
}

func newBuilder() (builder, error) {
	tools, err := toolsDir()
	if err != nil {
		return builder{}, err
	}
	cache, err := CacheDir()
	if err != nil {
		return builder{}, err
	}
	return builder{tools: tools, cache: filepath.Join(cache, "programs"), goVersion: runtime.Version(), table: table}, nil
}

// target is a program with everything that its build depends on.
type target struct {
	Program
	pins      pins
	version   string
	linkFlags string
	binary    string
}

func (b builder) target(name string) (target, error) {
	for _, program := range b.table {
		if program.Name == name {
			return b.resolve(program)
		}
	}
	return target{}, fmt.Errorf("find program %q: not in the table of e2e/programs", name)
}

func (b builder) resolve(program Program) (target, error) {
	pins, err := readPins(b.tools, program.Group)
	if err != nil {
		return target{}, err
	}
	version, err := pins.version(program.Module)
	if err != nil {
		return target{}, err
	}
	flags := linkFlags(program, version)
	folder := program.Group + "-" + key(pins, b.goVersion, flags)
	return target{
		Program: program, pins: pins, version: version, linkFlags: flags,
		binary: filepath.Join(b.cache, folder, program.Name),
	}, nil
}

// linkFlags leaves out symbol tables, which nobody reads and which double the size.
func linkFlags(program Program, version string) string {
	flags := []string{"-s", "-w"}
	if program.Stamp != nil {
		for variable, value := range program.Stamp(version) {
			flags = append(flags, "-X "+variable+"="+value)
		}
		sort.Strings(flags)
	}
	return strings.Join(flags, " ")
}

func (t target) cached() bool {
	info, err := os.Stat(t.binary)
	return err == nil && info.Mode().IsRegular()
}

// ensure builds the program unless the cache has it, and says whether it built.
func (b builder) ensure(ctx context.Context, t target) (built bool, err error) {
	if t.cached() {
		return false, nil
	}
	// One lock for all programs: one build alone keeps all processors busy.
	unlock, err := Lock(ctx, filepath.Join(b.cache, "build.lock"))
	if err != nil {
		return false, err
	}
	defer unlock()
	if t.cached() {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(t.binary), 0o755); err != nil {
		return false, fmt.Errorf("build %s: %w", t.Name, err)
	}
	unfinished := t.binary + ".unfinished"
	if err := goBuild(ctx, t, unfinished); err != nil {
		return false, fmt.Errorf("build %s %s: %w", t.Name, t.version, err)
	}
	if err := os.Rename(unfinished, t.binary); err != nil {
		return false, fmt.Errorf("build %s: %w", t.Name, err)
	}
	return true, nil
}

func goBuild(ctx context.Context, t target, output string) error {
	for try := 1; ; try++ {
		_, err := runGo(ctx, t.pins.dir, "build", "-mod=readonly", "-buildvcs=false", "-ldflags", t.linkFlags, "-o", output, t.ImportPath())
		if err == nil || try == downloadTries || ctx.Err() != nil || !isDownloadFailure(err) {
			return err
		}
	}
}

// isDownloadFailure tells a module that did not arrive from code that does not compile.
func isDownloadFailure(err error) bool {
	text := err.Error()
	for _, sign := range []string{"i/o timeout", "TLS handshake", "connection reset", "connection refused", "unexpected EOF", "deadline exceeded", "Gateway Time", "Bad Gateway", "Service Unavailable", "Too Many Requests", "Internal Server Error"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	return false
}

// runGo runs the go command in a group's folder, without the caller's workspace and flags.
func runGo(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "PWD="+dir)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("go %s: %w", args[0], err), errors.New(lastLines(stdout.String()+stderr.String(), 20)))
	}
	return stdout.Bytes(), nil
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// buildAll builds the named programs one after the other and writes a line for each.
func (b builder) buildAll(ctx context.Context, names []string, progress io.Writer) error {
	for i, name := range names {
		t, err := b.target(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(progress, "[%*d/%d] %s %s: ", len(fmt.Sprint(len(names))), i+1, len(names), t.Name, t.version)
		start := time.Now()
		built, err := b.ensure(ctx, t)
		switch {
		case err != nil:
			fmt.Fprintln(progress, "failed")
			return err
		case built:
			fmt.Fprintf(progress, "built in %ds\n", int(time.Since(start).Seconds()))
		default:
			fmt.Fprintln(progress, "cached")
		}
	}
	return nil
}
