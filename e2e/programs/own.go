package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Own builds a program of this repository, by the folder of its main package below the
// root, and returns the binary's path. The folder may be a module of its own. The go
// command itself knows whether there is anything to build.
func Own(ctx context.Context, folder string) (string, error) {
	tools, err := toolsDir()
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	source := filepath.Join(filepath.Dir(tools), folder)
	// Two working copies of the repository do not overwrite each other's programs.
	sum := sha256.Sum256([]byte(source))
	binary := filepath.Join(cache, "own", hex.EncodeToString(sum[:8]), filepath.Base(folder))
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return "", fmt.Errorf("build %s: %w", folder, err)
	}
	unlock, err := Lock(ctx, binary+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := runGo(ctx, source, "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "."); err != nil {
		return "", fmt.Errorf("build %s: %w", folder, err)
	}
	return binary, nil
}
