package kind

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// administratorPath adds the folders of root's programs, which the PATH of a service
// or of an unprivileged user often lacks.
func administratorPath() string {
	return os.Getenv("PATH") + ":/usr/local/sbin:/usr/sbin:/sbin"
}

// lookPath finds a program as exec.LookPath does, in the administrator's path.
func lookPath(name string) (string, bool) {
	for _, dir := range filepath.SplitList(administratorPath()) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, true
		}
	}
	return "", false
}

// command prepares a program found in the administrator's path.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	path, found := lookPath(name)
	if !found {
		path = name
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "PATH="+administratorPath())
	return cmd
}

// output runs a command and returns what it printed; its error carries the last lines
// of what the command complained about.
func output(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		complaint := strings.TrimSpace(stderr.String())
		if complaint == "" {
			complaint = strings.TrimSpace(stdout.String())
		}
		return "", fmt.Errorf("run %s: %w: %s", filepath.Base(cmd.Path), err, lastLines(complaint, 20))
	}
	return stdout.String(), nil
}

func lastLines(text string, count int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
