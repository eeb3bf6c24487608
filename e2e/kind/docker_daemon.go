package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cozystack/gitops-operator/e2e/kind/capability"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

// daemon is a Docker daemon of our own: its images and containers lie in the cache, its
// socket and process ids in a folder of /run, so that it disturbs no other.
type daemon struct {
	data, run, log string
	runtime        string // path of boundedrunc, "" where the machine lacks no capability
}

func newDaemon(cache string) daemon {
	sum := sha256.Sum256([]byte(cache))
	run := filepath.Join("/run", "gitops-operator-docker-"+hex.EncodeToString(sum[:4]))
	return daemon{data: filepath.Join(cache, "docker"), run: run, log: filepath.Join(cache, "dockerd.log")}
}

func (d daemon) client() dockerClient    { return dockerClient{host: "unix://" + d.socket()} }
func (d daemon) socket() string          { return filepath.Join(d.run, "docker.sock") }
func (d daemon) pidFile() string         { return filepath.Join(d.run, "docker.pid") }
func (d daemon) containerdState() string { return filepath.Join(d.run, "exec", "containerd") }

// openDocker returns a client of the daemon that runs, else of one of our own, which it
// starts if need be.
func openDocker(ctx context.Context, log io.Writer, cache string) (dockerClient, error) {
	if err := requirePrograms(ctx, log, map[string]string{"docker": "docker.io"}); err != nil {
		return dockerClient{}, err
	}
	missing, err := capability.Missing()
	if err != nil {
		return dockerClient{}, err
	}
	// A daemon that another has started cannot run a privileged container here.
	if theirs := (dockerClient{}); len(missing) == 0 && theirs.answers(ctx) {
		return theirs, nil
	}
	ours := newDaemon(cache)
	unlock, err := programs.Lock(ctx, filepath.Join(cache, "dockerd.lock"))
	if err != nil {
		return dockerClient{}, err
	}
	defer unlock()
	if ours.runs() {
		return ours.client(), ours.awaitAnswer(ctx, nil)
	}
	if os.Geteuid() != 0 {
		return dockerClient{}, &unavailableError{missing: []string{"a running Docker daemon"}, hint: "only root can start one"}
	}
	if err := requirePrograms(ctx, log, map[string]string{"dockerd": "docker.io", "iptables": "iptables"}); err != nil {
		return dockerClient{}, err
	}
	if len(missing) > 0 {
		if ours.runtime, err = buildOwn(ctx, "kind/boundedrunc", cache); err != nil {
			return dockerClient{}, err
		}
	}
	if err := ours.start(ctx, log); err != nil {
		return dockerClient{}, err
	}
	return ours.client(), nil
}

// start starts the daemon so that it outlives this process, and waits until it answers.
func (d daemon) start(ctx context.Context, log io.Writer) error {
	if err := d.clearLeftovers(); err != nil {
		return err
	}
	for _, dir := range []string{d.data, d.run, "/lib/modules"} { // kind mounts the last one into every node
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("start dockerd: %w", err)
		}
	}
	logFile, err := os.Create(d.log)
	if err != nil {
		return fmt.Errorf("start dockerd: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	args := []string{
		"--host", "unix://" + d.socket(), "--data-root", d.data, "--exec-root", filepath.Join(d.run, "exec"), "--pidfile", d.pidFile(),
		// kind makes a network of its own; the default one would be shared with another daemon.
		"--bridge", "none",
	}
	if d.runtime != "" {
		args = append(args, "--add-runtime", "bounded="+d.runtime, "--default-runtime", "bounded")
	}
	cmd := command(context.WithoutCancel(ctx), "dockerd", args...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start dockerd: %w", err)
	}
	fmt.Fprintf(log, "started a Docker daemon of our own, process %d, log %s; \"go run ./e2e/kind/down\" ends it\n", cmd.Process.Pid, d.log)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return d.awaitAnswer(ctx, ended)
}

// awaitAnswer waits until the daemon answers or, if this process started it, ends.
func (d daemon) awaitAnswer(ctx context.Context, ended <-chan error) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case err := <-ended:
			return &unavailableError{missing: []string{"a Docker daemon"}, hint: fmt.Sprintf("dockerd ended (%v): %s", err, d.lastWords())}
		case <-ctx.Done():
			return fmt.Errorf("start dockerd: no answer: %w; see %s", ctx.Err(), d.log)
		case <-poll.C:
			if d.client().answers(ctx) {
				return nil
			}
		}
	}
}

// lastWords is the last line that the daemon has logged.
func (d daemon) lastWords() string {
	content, err := os.ReadFile(d.log)
	if err != nil {
		return err.Error()
	}
	return lastLines(strings.TrimSpace(string(content)), 1)
}

// runs tells whether the process of the pid file is our daemon, and not another that got
// its number.
func (d daemon) runs() bool {
	_, running := processOf(d.pidFile(), "dockerd")
	return running
}

// stop ends the daemon and waits until it is gone.
func (d daemon) stop(ctx context.Context) error {
	pid, running := processOf(d.pidFile(), "dockerd")
	if running {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop dockerd: %w", err)
		}
		if err := awaitEnd(ctx, pid); err != nil {
			return fmt.Errorf("stop dockerd: %w", err)
		}
	}
	return d.clearLeftovers()
}
