package embedded

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestStoppedClusterLeavesNeitherProcessesNorFiles(t *testing.T) {
	c, err := Start(t.Context(), Options{Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range c.processes {
		pids = append(pids, p.pid())
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if len(pids) != 3 {
		t.Errorf("%d processes ran, want etcd, kube-apiserver and kube-controller-manager", len(pids))
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d after the stop: %v, want no such process", pid, err)
		}
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("folder %s after the stop: %v, want none", c.Dir, err)
	}
}

func TestFailedStartTellsTheLogAndLeavesNothing(t *testing.T) {
	_, err := Start(t.Context(), Options{Output: io.Discard, APIServerFlags: []string{"--no-such-flag"}})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("start with a wrong flag: %v, want what the API server said", err)
	}
}

func TestAPIServerKeepsItsStateOverARestart(t *testing.T) {
	name := unique("before-restart")
	if err := shared.Client.Create(t.Context(), namespace(name, nil)); err != nil {
		t.Fatal(err)
	}
	if err := shared.RestartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	output, err := shared.Kubectl(t.Context(), "get", "namespace", name, "-o", "name")
	if err != nil || strings.TrimSpace(output) != "namespace/"+name {
		t.Errorf("kubectl get: %q, %v", output, err)
	}
}
