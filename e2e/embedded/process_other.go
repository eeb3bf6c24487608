//go:build !linux

package embedded

import (
	"os/exec"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func startChild(cmd *exec.Cmd) error { return cmd.Start() }
