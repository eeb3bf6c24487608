package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestReadmeListsEveryFlag compares the README's table with the flags: the names and
// the defaults.
func TestReadmeListsEveryFlag(t *testing.T) {
	// In a pod the environment gives some of them.
	t.Setenv("POD_NAMESPACE", "")
	t.Setenv("POD_SERVICE_ACCOUNT", "")
	content, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Count(string(content), "\n| `--")
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&options{}).bind(flags)
	known := 0
	flags.VisitAll(func(flag *pflag.Flag) {
		known++
		row := fmt.Sprintf("\n| `--%s` | `%s` | ", flag.Name, flag.DefValue)
		if flag.DefValue == "" || flag.DefValue == "[]" {
			row = fmt.Sprintf("\n| `--%s` | | ", flag.Name)
		}
		if !strings.Contains(string(content), row) {
			t.Errorf("the README lacks the row %q", strings.TrimSpace(row))
		}
	})
	if listed != known {
		t.Errorf("the README lists %d flags, there are %d", listed, known)
	}
}
