package kind

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

// ownModule is the import path of the packages below e2e.
const ownModule = "github.com/cozystack/gitops-operator/e2e/"

// buildOwn builds a main package below e2e, for containers: without cgo it needs no library.
func buildOwn(ctx context.Context, packagePath, dir string) (string, error) {
	name := path.Base(packagePath)
	binary := filepath.Join(dir, name)
	cmd := command(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", binary, ownModule+packagePath)
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	if _, err := output(cmd); err != nil {
		return "", fmt.Errorf("build %s: %w", name, err)
	}
	return binary, nil
}

// workFolder makes a folder for one piece of work in the cache, which has room for
// image archives where /tmp may not.
func workFolder(cache string) (dir string, remove func(), err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", nil, fmt.Errorf("make a work folder: %w", err)
	}
	dir, err = os.MkdirTemp(cache, "work-")
	if err != nil {
		return "", nil, fmt.Errorf("make a work folder: %w", err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }, nil
}
