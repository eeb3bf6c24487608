package embedded

import (
	"os/exec"
	"runtime"
	"syscall"
)

// childAttributes keep a terminal's interrupt from the children, which Stop ends in
// order, and end them with this process, even when it is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// startRequests lead to the one thread that starts children: to the kernel, a child's
// parent is the thread that made it, and threads of the Go runtime come and go.
var startRequests = make(chan startRequest)

type startRequest struct {
	cmd    *exec.Cmd
	result chan error
}

func init() {
	go func() {
		runtime.LockOSThread()
		for request := range startRequests {
			request.result <- request.cmd.Start()
		}
	}()
}

func startChild(cmd *exec.Cmd) error {
	request := startRequest{cmd: cmd, result: make(chan error)}
	startRequests <- request
	return <-request.result
}
