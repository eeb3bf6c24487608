package main

import "syscall"

// childAttributes keep a terminal's interrupt from the operator, which is stopped in
// order, and end it with this process, even when that is killed.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
