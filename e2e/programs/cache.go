package programs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// CacheDir is where everything is kept that is made once and used by many runs:
// $GITOPS_OPERATOR_CACHE, else gitops-operator in the user's cache folder.
func CacheDir() (string, error) {
	if dir := os.Getenv("GITOPS_OPERATOR_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		// Root's services often have no HOME; the password database would say the same.
		if os.Geteuid() == 0 {
			return "/root/.cache/gitops-operator", nil
		}
		return "", fmt.Errorf("find the cache folder (set GITOPS_OPERATOR_CACHE): %w", err)
	}
	return filepath.Join(dir, "gitops-operator"), nil
}

// key names one content of a program: what pins it, what compiles it and how it is linked.
func key(p pins, goVersion string, linkFlags string) string {
	sum := sha256.New()
	for _, part := range [][]byte{p.goMod, p.goSum, []byte(goVersion), []byte(runtime.GOOS + "/" + runtime.GOARCH), []byte(linkFlags)} {
		// The length before each part keeps two different splits apart.
		fmt.Fprintf(sum, "%d\n", len(part))
		sum.Write(part)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Lock takes an exclusive lock on a file, which it makes if need be, and waits while
// another process holds it. The kernel releases the lock of a process that dies.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	locked := make(chan error)
	go func() {
		err := flock(file)
		select {
		case locked <- err:
		case <-ctx.Done():
			// Nobody waits any more: the lock is given back.
			_ = file.Close()
		}
	}()
	select {
	case err := <-locked:
		if err != nil {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return func() { _ = file.Close() }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("lock %s: %w", path, ctx.Err())
	}
}

func flock(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
