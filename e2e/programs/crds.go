package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// CRDs returns a folder with the CustomResourceDefinitions of an API package that a
// group pins, generated from its Go types if need be: some modules of a controller hold
// the types, but not the definitions.
func CRDs(ctx context.Context, group, importPath string) (string, error) {
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	pins, err := readPins(b.tools, group)
	if err != nil {
		return "", err
	}
	generator, err := Path(ctx, "controller-gen")
	if err != nil {
		return "", err
	}
	// The generator's folder is named after what it is made of.
	made := filepath.Join(b.cache, "crds", group+"-"+key(pins, filepath.Base(filepath.Dir(generator)), importPath))
	unlock, err := Lock(ctx, filepath.Join(b.cache, "crds.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(made); err == nil {
		return made, nil
	}
	unfinished := made + ".unfinished"
	if err := errors.Join(os.RemoveAll(unfinished), generate(ctx, generator, pins.dir, importPath, unfinished)); err != nil {
		return "", fmt.Errorf("generate the CRDs of %s: %w", importPath, err)
	}
	if err := os.Rename(unfinished, made); err != nil {
		return "", fmt.Errorf("generate the CRDs of %s: %w", importPath, err)
	}
	return made, nil
}

func generate(ctx context.Context, generator, dir, importPath, output string) error {
	command := exec.CommandContext(ctx, generator, "crd", "paths="+importPath, "output:crd:dir="+output)
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "PWD="+dir)
	var printed bytes.Buffer
	command.Stdout, command.Stderr = &printed, &printed
	if err := command.Run(); err != nil {
		return errors.Join(fmt.Errorf("controller-gen: %w", err), errors.New(lastLines(printed.String(), 20)))
	}
	return nil
}
