package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// demo is one run: its folder, what it has to undo, and whom it tells.
type demo struct {
	out io.Writer
	// root is the repository, dir the folder with all files of this run.
	root, dir string
	// kubectl is the program's path.
	kubectl string
	// undo is done backwards.
	undo []func(context.Context) error
	// keepDir leaves the folder.
	keepDir bool
}

func newDemo(out io.Writer) (*demo, error) {
	root, err := repositoryRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gitops-demo-")
	if err != nil {
		return nil, fmt.Errorf("make the demo's folder: %w", err)
	}
	return &demo{out: out, root: root, dir: dir}, nil
}

// repositoryRoot finds the repository that the working directory is in.
func repositoryRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "config", "default", "kustomization.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the repository: neither %s nor a folder above it has config/default", start)
		}
	}
}

// tearDownPatience bounds how long taking everything down may take.
const tearDownPatience = 2 * time.Minute

// tearDown undoes everything, whatever became of the run's own context.
func (d *demo) tearDown() error {
	ctx, cancel := context.WithTimeout(context.Background(), tearDownPatience)
	defer cancel()
	d.step("Taking everything down")
	var errs []error
	for i := len(d.undo) - 1; i >= 0; i-- {
		errs = append(errs, d.undo[i](ctx))
	}
	if !d.keepDir {
		errs = append(errs, os.RemoveAll(d.dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("take the demo down: %w", err)
	}
	if !d.keepDir {
		d.say("nothing is left running")
	}
	return nil
}

func (d *demo) onTearDown(undo func(context.Context) error) { d.undo = append(d.undo, undo) }

func (d *demo) step(format string, args ...any) {
	fmt.Fprintf(d.out, "\n==> "+format+"\n", args...)
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

func (d *demo) file(name string) string { return filepath.Join(d.dir, name) }

// buildPrograms builds what the cache lacks, and puts kubectl where a person can
// have it in the PATH without anything else.
func (d *demo) buildPrograms(ctx context.Context, names ...string) error {
	cache, err := programs.CacheDir()
	if err != nil {
		return err
	}
	d.step("Programs, each built once and kept in %s", cache)
	if err := programs.Build(ctx, names, d.out); err != nil {
		return err
	}
	binary, err := programs.Path(ctx, "kubectl")
	if err != nil {
		return err
	}
	d.kubectl = d.file("bin/kubectl")
	if err := os.MkdirAll(filepath.Dir(d.kubectl), 0o755); err != nil {
		return fmt.Errorf("make the demo's folder: %w", err)
	}
	if err := os.Symlink(binary, d.kubectl); err != nil {
		return fmt.Errorf("link kubectl: %w", err)
	}
	return nil
}

// buildOperator builds cmd/gitops-operator, static so that it runs in an image of
// nothing else too.
func (d *demo) buildOperator(ctx context.Context) (string, error) {
	binary := d.file("bin/gitops-operator")
	began := time.Now()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/gitops-operator")
	cmd.Dir = d.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the operator: %w: %s", err, output)
	}
	d.say("gitops-operator: built from this tree in %.0fs", time.Since(began).Seconds())
	return binary, nil
}

// runKubectl shows a kubectl command as a person would type it, runs it, and shows
// what it prints.
func (d *demo) runKubectl(ctx context.Context, s *stage, args ...string) error {
	d.say("$ kubectl %s", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, d.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	output, err := cmd.CombinedOutput()
	fmt.Fprintf(d.out, "%s", output)
	if err != nil {
		return fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return nil
}
