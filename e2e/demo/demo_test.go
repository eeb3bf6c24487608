package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience bounds each wait, programs that have to be built first included.
const patience = 40 * time.Minute

// tryDemo runs the demo until a commit is applied, pastes the commands that it prints,
// waits for what they say will happen, and interrupts it: nothing may be left then.
func tryDemo(t *testing.T, cluster string) *runningDemo {
	t.Helper()
	temporary := t.TempDir()
	demo := startDemo(t, temporary, cluster)

	table := demo.await(t, regexp.MustCompile(`tenant-acme +gitops +True .*`))
	if !regexp.MustCompile(`True +main@sha1:[0-9a-f]+ +2 `).MatchString(table) {
		t.Errorf("the table does not show Ready, the revision and two applications: %s", table)
	}
	demo.await(t, regexp.MustCompile(regexp.QuoteMeta(pushHeader)))
	for range pushCommands("", "", "") {
		command := strings.TrimSpace(demo.await(t, regexp.MustCompile("^  .*")))
		paste := exec.CommandContext(t.Context(), "bash", "-c", command)
		// Nothing may depend on how the person has set up git.
		paste.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temporary, "GIT_CONFIG_NOSYSTEM=1", "GIT_SSL_CAINFO=" + temporary + "/none.pem"}
		if output, err := paste.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	demo.await(t, regexp.MustCompile(`applied main@sha1:[0-9a-f]+: 3 applications`))

	if left := processesOf(t, temporary); len(left) == 0 {
		t.Error("no process of the demo is found while it runs, so this test cannot tell whether one is left")
	}
	demo.interrupt(t)
	if left := processesOf(t, temporary); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "gitops-demo-*")); err != nil || len(left) > 0 {
		t.Errorf("folders are left: %v, %v", left, err)
	}
	return demo
}

// TestOnlyKnownClustersAreStarted gives a name that is none.
func TestOnlyKnownClustersAreStarted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	err := run(t.Context(), "minikube", false, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `"minikube" is neither embedded nor kind`) {
		t.Errorf("the error is %v", err)
	}
}

// runningDemo is the demo as a process of its own.
type runningDemo struct {
	cmd   *exec.Cmd
	lines chan string
	// ended has the process's last word, once everything it printed is read.
	ended chan error

	mu   sync.Mutex
	said bytes.Buffer
}

func startDemo(t *testing.T, temporary, cluster string) *runningDemo {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "demo")
	if output, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the demo: %v\n%s", err, output)
	}
	d := &runningDemo{lines: make(chan string, 1000), ended: make(chan error, 1)}
	// Not ended with the test's context, which ends too early to stop what it started.
	d.cmd = exec.CommandContext(context.Background(), binary, "-cluster="+cluster)
	d.cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
	reader, writer := io.Pipe()
	d.cmd.Stdout, d.cmd.Stderr = writer, writer
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		err := d.cmd.Wait()
		_ = writer.Close()
		d.ended <- err
	}()
	go d.read(reader)
	t.Cleanup(func() {
		if d.cmd.ProcessState == nil {
			_ = d.cmd.Process.Signal(syscall.SIGTERM)
			t.Logf("the demo ended with %v", <-d.ended)
		}
		if t.Failed() {
			t.Logf("the demo said:\n%s", d.all())
		}
	})
	return d
}

func (d *runningDemo) read(reader io.Reader) {
	defer close(d.lines)
	for scanner := bufio.NewScanner(reader); scanner.Scan(); {
		d.mu.Lock()
		d.said.WriteString(scanner.Text() + "\n")
		d.mu.Unlock()
		d.lines <- scanner.Text()
	}
}

// all is what the demo has said so far.
func (d *runningDemo) all() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.String()
}

// await returns the next line that matches.
func (d *runningDemo) await(t *testing.T, pattern *regexp.Regexp) string {
	t.Helper()
	tooLate := time.After(patience)
	for {
		select {
		case line, open := <-d.lines:
			if !open {
				t.Fatalf("the demo ended before it said %q", pattern)
			}
			if pattern.MatchString(line) {
				return line
			}
		case <-tooLate:
			t.Fatalf("the demo did not say %q", pattern)
		}
	}
}

// interrupt presses Ctrl-C and waits for the end, which must be a good one.
func (d *runningDemo) interrupt(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	go func() {
		for range d.lines {
			// Read, so that the demo can go on saying.
			continue
		}
	}()
	select {
	case err := <-d.ended:
		if err != nil {
			t.Errorf("the demo ended with %v", err)
		}
	case <-time.After(tearDownPatience):
		t.Fatal("the demo did not end")
	}
}

// processesOf finds the processes whose environment names the folder, as that of all
// that the demo starts does.
func processesOf(t *testing.T, folder string) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, environment := range environments {
		// Processes come and go, and some are not ours to look at.
		content, err := os.ReadFile(environment)
		if err != nil || !bytes.Contains(content, []byte(folder)) {
			continue
		}
		commandLine, _ := os.ReadFile(filepath.Join(filepath.Dir(environment), "cmdline"))
		found = append(found, strings.ReplaceAll(string(commandLine), "\x00", " "))
	}
	return found
}
