package programs

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// pins is what tools/<group> fixes.
type pins struct {
	dir          string
	goMod, goSum []byte
}

// readPins reads the module files of a group.
func readPins(toolsDir, group string) (pins, error) {
	dir := filepath.Join(toolsDir, group)
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return pins{}, fmt.Errorf("read pins of group %s: %w", group, err)
	}
	goSum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil && !os.IsNotExist(err) {
		return pins{}, fmt.Errorf("read checksums of group %s: %w", group, err)
	}
	return pins{dir: dir, goMod: goMod, goSum: goSum}, nil
}

// version finds the required version of a module: the line "[require] module version".
func (p pins) version(module string) (string, error) {
	lines := bufio.NewScanner(bytes.NewReader(p.goMod))
	for lines.Scan() {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "require "))
		if len(fields) >= 2 && fields[0] == module && strings.HasPrefix(fields[1], "v") {
			return fields[1], nil
		}
	}
	return "", fmt.Errorf("find version of module %s: %s requires none", module, filepath.Join(p.dir, "go.mod"))
}

// toolsDir finds the tools folder of the repository that the working directory is in.
// Tests run in their package's folder, "go run" anywhere in the repository.
func toolsDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the tools folder: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "tools", "kubernetes", "go.mod")); err == nil {
			return filepath.Join(dir, "tools"), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the tools folder: neither %s nor a folder above it has tools/kubernetes/go.mod", start)
		}
	}
}
