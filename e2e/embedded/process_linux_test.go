package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// parentVariable makes the test binary a parent of one child, whose process id it prints.
const parentVariable = "EMBEDDED_TEST_PARENT_IN"

func init() {
	dir := os.Getenv(parentVariable)
	if dir == "" {
		return
	}
	child, err := start(command{name: "sleep", path: "/bin/sleep", args: []string{"600"}, dir: dir, logFile: filepath.Join(dir, "log")})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(child.pid())
	<-child.done
}

func TestChildrenDieWithAParentThatIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+t.TempDir())
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the parent says %q", line)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Killed: what it returns says just that.
	_ = parent.Wait()
	await(t, func() error {
		// An orphan that nobody has collected yet is as good as gone.
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil && !strings.Contains(string(status), "State:\tZ") {
			return fmt.Errorf("child %d is alive", pid)
		}
		if err := syscall.Kill(pid, 0); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil
	})
}
