//go:build !linux

package main

import "syscall"

// childAttributes keep a terminal's interrupt from the operator, which is stopped in
// order.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
