// Package capability reads which Linux capabilities a process of this machine can have.
package capability

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Names lists the capabilities by number; see capabilities(7).
var Names = []string{
	"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID",
	"CAP_SETUID", "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN",
	"CAP_NET_RAW", "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE", "CAP_SYS_PACCT", "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE",
	"CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD", "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL",
	"CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG", "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF", "CAP_CHECKPOINT_RESTORE",
}

// SysResource is the capability to go beyond resource limits and to lower the score by
// which the kernel picks what to kill when memory runs out.
const SysResource = "CAP_SYS_RESOURCE"

// Missing returns the capabilities that neither this process nor a child of it can have.
func Missing() (map[string]bool, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, fmt.Errorf("read capabilities: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		value, found := strings.CutPrefix(line, "CapBnd:")
		if !found {
			continue
		}
		bounding, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read capabilities: %w", err)
		}
		return missingIn(bounding), nil
	}
	return nil, fmt.Errorf("read capabilities: /proc/self/status has no line CapBnd")
}

func missingIn(bounding uint64) map[string]bool {
	missing := map[string]bool{}
	for number, name := range Names {
		if bounding&(1<<number) == 0 {
			missing[name] = true
		}
	}
	return missing
}
