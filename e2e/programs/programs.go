package programs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Path returns the absolute path of a program's binary and builds it if need be.
func Path(ctx context.Context, name string) (string, error) {
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	t, err := b.target(name)
	if err != nil {
		return "", err
	}
	if !t.cached() {
		if err := b.buildAll(ctx, []string{name}, os.Stderr); err != nil {
			return "", err
		}
	}
	return t.binary, nil
}

// Build builds the named programs, all of them when none is named, one after the
// other, and writes a line on each to progress.
func Build(ctx context.Context, names []string, progress io.Writer) error {
	b, err := newBuilder()
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for _, program := range b.table {
			names = append(names, program.Name)
		}
	}
	return b.buildAll(ctx, names, progress)
}

// Version returns the pinned version of a program.
func Version(name string) (string, error) {
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	t, err := b.target(name)
	return t.version, err
}

// ModuleDir returns the folder that holds the source of a module, in the version that
// a group pins, and downloads it if need be.
func ModuleDir(ctx context.Context, group, module string) (string, error) {
	tools, err := toolsDir()
	if err != nil {
		return "", err
	}
	pins, err := readPins(tools, group)
	if err != nil {
		return "", err
	}
	output, err := runGo(ctx, pins.dir, "mod", "download", "-json", module)
	if err != nil {
		return "", fmt.Errorf("download module %s of group %s: %w", module, group, err)
	}
	var download struct{ Dir, Error string }
	if err := json.Unmarshal(output, &download); err != nil {
		return "", fmt.Errorf("download module %s of group %s: %w", module, group, err)
	}
	if download.Dir == "" {
		return "", fmt.Errorf("download module %s of group %s: %s", module, group, download.Error)
	}
	return download.Dir, nil
}
