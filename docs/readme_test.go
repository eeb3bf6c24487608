package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages are those that a person reads from top to bottom.
var pages = []string{"../README.md", "architecture.md", "security.md", "check.md", "performance.md", "troubleshooting.md", "platform-gitops.md", "tenant-gitops.md",
	"../e2e/kind/README.md", "../examples/admin-repo/README.md", "../examples/tenant-repo/README.md"}

// TestLinksLeadSomewhere follows each link to a file or a heading.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(read(t, page), -1) {
			if strings.HasPrefix(match[1], "https://") {
				continue
			}
			file, heading, _ := strings.Cut(match[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, match[1], err)
				continue
			}
			if heading != "" && !strings.Contains(strings.ReplaceAll(strings.ToLower(read(t, target)), "'", ""), "# "+strings.ReplaceAll(heading, "-", " ")) {
				t.Errorf("%s links to %s, and there is no such heading", page, match[1])
			}
		}
	}
}

// TestMakeTargetsExist looks up each "make target" that a page tells to type.
func TestMakeTargetsExist(t *testing.T) {
	makefile := read(t, "../Makefile")
	command := regexp.MustCompile("(?m)(?:^|`)(?:[A-Z_]+=\\S+ )*make ([^`\n#]+)")
	for _, page := range pages {
		for _, match := range command.FindAllStringSubmatch(read(t, page), -1) {
			for _, word := range strings.Fields(match[1]) {
				if !strings.Contains(word, "=") && !strings.Contains(makefile, "\n"+word+":") {
					t.Errorf("%s says make %s, and there is no such target", page, word)
				}
			}
		}
	}
}

// TestFoldersAreThere looks up each folder of the README's map of the tree.
func TestFoldersAreThere(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `([a-z/-]+/)` \\|").FindAllStringSubmatch(read(t, "../README.md"), -1)
	if len(rows) == 0 {
		t.Fatal("the map of the tree is not found")
	}
	for _, row := range rows {
		if info, err := os.Stat(filepath.Join("..", row[1])); err != nil || !info.IsDir() {
			t.Errorf("the README describes the folder %s: %v", row[1], err)
		}
	}
}
