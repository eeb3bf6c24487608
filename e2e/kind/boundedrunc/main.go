// Command boundedrunc stands in for runc on machines that lack a capability.
//
// A privileged container asks for every capability that exists, and runc fails where
// the machine cannot grant one. This program takes those out of the container's
// specification and then becomes runc, with the same arguments. Where the machine has
// all capabilities it changes nothing.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cozystack/gitops-operator/e2e/kind/capability"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "boundedrunc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	missing, err := capability.Missing()
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := edit(parse(args), missing); err != nil {
			return err
		}
	}
	runc, err := findRunc()
	if err != nil {
		return err
	}
	return syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
}

// invocation is what matters here of runc's arguments.
type invocation struct {
	action, bundle, process string
}

func parse(args []string) invocation {
	call := invocation{bundle: "."}
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "create", "run", "exec":
			if call.action == "" {
				call.action = name
			}
		case "--bundle", "-b":
			call.bundle = value
		case "--process", "-p":
			call.process = value
		}
	}
	return call
}

// edit rewrites the file that tells runc which capabilities to give.
func edit(call invocation, missing map[string]bool) error {
	switch {
	case call.action == "create" || call.action == "run":
		return editFile(filepath.Join(call.bundle, "config.json"), func(spec map[string]any) {
			if process, ok := spec["process"].(map[string]any); ok {
				restrict(process, missing)
			}
		})
	case call.action == "exec" && call.process != "":
		return editFile(call.process, func(process map[string]any) {
			restrict(process, missing)
		})
	}
	return nil
}

func restrict(process map[string]any, missing map[string]bool) {
	if sets, ok := process["capabilities"].(map[string]any); ok {
		for set, value := range sets {
			wanted, _ := value.([]any)
			granted := []any{}
			for _, name := range wanted {
				if text, _ := name.(string); !missing[text] {
					granted = append(granted, name)
				}
			}
			sets[set] = granted
		}
	}
	if score, ok := process["oomScoreAdj"].(json.Number); ok && missing[capability.SysResource] && strings.HasPrefix(score.String(), "-") {
		process["oomScoreAdj"] = 0
	}
}

func editFile(path string, change func(map[string]any)) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var document map[string]any
	decoder := json.NewDecoder(bytes.NewReader(content))
	// Numbers stay as they are written: some do not fit a float.
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	change(document)
	if content, err = json.Marshal(document); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// findRunc finds the real runc: not this program, which is itself called runc in a node.
func findRunc() (string, error) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return "", err
	}
	for _, dir := range []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"} {
		path := filepath.Join(dir, "runc")
		if info, err := os.Stat(path); err == nil && !os.SameFile(info, self) {
			return path, nil
		}
	}
	return "", fmt.Errorf("runc is not installed")
}
