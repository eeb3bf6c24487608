package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stopGrace is how long a program may take to end by itself.
const stopGrace = 5 * time.Second

// command is a program to start, with all that it sees of the machine.
type command struct {
	name, path string
	args, env  []string
	dir        string
	logFile    string
}

// process is a started program.
type process struct {
	command
	cmd *exec.Cmd
	// done is closed once the program has ended; only then is state set.
	done  chan struct{}
	state *os.ProcessState
}

// start runs a program, whose output is appended to its log file. The program sees
// only the environment it is given, so that nobody's own kubeconfig or proxy leaks in.
func start(c command) (*process, error) {
	if err := makeDir(c.dir); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	log, err := os.OpenFile(c.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	// The child has its own descriptor; ours must not outlive the start.
	defer func() { _ = log.Close() }()
	cmd := exec.Command(c.path, c.args...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + c.dir}, c.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	if err := startChild(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{command: c, cmd: cmd, done: make(chan struct{})}
	go func() {
		// Why it ended is in the state; an error here says no more.
		_ = cmd.Wait()
		p.state = cmd.ProcessState
		close(p.done)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// stop asks the program to end, and ends it after a grace period.
func (p *process) stop() {
	if !p.running() {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopGrace):
		p.kill()
	}
}

// kill ends the program at once, as a crash of its machine would.
func (p *process) kill() {
	if p.running() {
		_ = p.cmd.Process.Kill()
	}
	<-p.done
}

// awaitReady waits until ready says so, or the program ends, or the time is up. The
// error then carries the end of the program's log.
func (p *process) awaitReady(ctx context.Context, timeout time.Duration, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return p.failure(fmt.Errorf("ended early: %s", p.state))
		case <-ctx.Done():
			return p.failure(fmt.Errorf("not ready in time: %w", err))
		case <-ticker.C:
		}
	}
}

func (p *process) failure(err error) error {
	return fmt.Errorf("start %s: %w\nlast lines of its log:\n%s", p.name, err, logTail(p.logFile, 30))
}

// logTail returns the last lines of a log; a log that cannot be read has none.
func logTail(path string, lines int) string {
	const mostBytes = 32 << 10
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err == nil && info.Size() > mostBytes {
		if _, err := file.Seek(-mostBytes, io.SeekEnd); err != nil {
			return ""
		}
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	all := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// writeFile replaces a file in one step, so that a program which reads it meanwhile
// sees the old content or the new.
func writeFile(path string, content []byte) error {
	if err := makeDir(filepath.Dir(path)); err != nil {
		return err
	}
	unfinished := path + ".unfinished"
	err := os.WriteFile(unfinished, content, 0o600)
	return errors.Join(err, os.Rename(unfinished, path))
}

func makeDir(path string) error { return os.MkdirAll(path, 0o755) }
