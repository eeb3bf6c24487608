package embedded

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// residentMemory is what a process holds in memory, in bytes; 0 where the system does
// not tell: there, memory limits are not enforced.
func residentMemory(pid int) int64 {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(content))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
