package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// clearLeftovers removes what a daemon of ours leaves that was killed and not ended:
// processes, mounts, control groups and the files that name its processes. Images and
// containers stay; the daemon itself knows them again.
func (d daemon) clearLeftovers() error {
	if d.runs() {
		return nil
	}
	if pid, running := processOf(filepath.Join(d.containerdState(), "containerd.pid"), "containerd"); running {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	containers := d.containers()
	killProcessesOf(containers)
	for _, mount := range mountsBelow(d.run, d.data) {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil && !errors.Is(err, syscall.EINVAL) {
			return fmt.Errorf("unmount leftover %s: %w", mount, err)
		}
	}
	removeControlGroups(containers)
	if err := os.RemoveAll(d.run); err != nil {
		return fmt.Errorf("remove leftovers of a Docker daemon: %w", err)
	}
	return nil
}

// containers lists the ids of all containers that the daemon's data knows.
func (d daemon) containers() []string {
	entries, err := os.ReadDir(filepath.Join(d.data, "containers"))
	if err != nil {
		return nil
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids
}

// processOf reads a pid file and tells whether a process with that number and that
// program runs.
func processOf(pidFile, program string) (pid int, running bool) {
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return 0, false
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(content))); err != nil {
		return 0, false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return pid, err == nil && strings.TrimSpace(string(name)) == program && !isZombie(pid)
}

func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which stands in parentheses and may hold anything.
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

// awaitEnd waits until a process that need not be a child has ended.
func awaitEnd(ctx context.Context, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) || isZombie(pid) {
			return nil
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return fmt.Errorf("process %d has not ended: %w", pid, ctx.Err())
		}
	}
}

// killProcessesOf kills what still runs in containers whose daemon is dead, and the
// shims that hold them, which carry the container's id as an argument.
func killProcessesOf(containers []string) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(containers) == 0 {
		return
	}
	for _, process := range processes {
		groups, _ := os.ReadFile(filepath.Join(process, "cgroup"))
		arguments, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		isShim := strings.Contains(string(arguments), "containerd-shim")
		for _, id := range containers {
			if strings.Contains(string(groups), id) || isShim && strings.Contains(string(arguments), id) {
				if pid, err := strconv.Atoi(filepath.Base(process)); err == nil {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
	}
}

// mountsBelow lists mount points at and below the folders, the innermost first.
func mountsBelow(folders ...string) []string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var mounts []string
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		for _, folder := range folders {
			if fields[4] == folder || strings.HasPrefix(fields[4], folder+"/") {
				mounts = append(mounts, fields[4])
			}
		}
	}
	slices.Reverse(mounts)
	return mounts
}

// removeControlGroups removes the groups of dead containers, the innermost first. The
// kernel refuses to remove one that is in use.
func removeControlGroups(containers []string) {
	for _, id := range containers {
		groups, _ := filepath.Glob("/sys/fs/cgroup/*/docker/" + id)
		unified, _ := filepath.Glob("/sys/fs/cgroup/docker/" + id)
		for _, group := range append(groups, unified...) {
			var nested []string
			_ = filepath.WalkDir(group, func(path string, entry os.DirEntry, err error) error {
				if err == nil && entry.IsDir() {
					nested = append(nested, path)
				}
				return nil
			})
			slices.Reverse(nested)
			for _, path := range nested {
				_ = syscall.Rmdir(path)
			}
		}
	}
}
