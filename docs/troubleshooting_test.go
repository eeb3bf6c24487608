// Package docs_test holds the documentation to the code.
package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryReasonHasAnEntry compares the reasons that conditions and events may give
// with the headings of the troubleshooting page, both ways.
func TestEveryReasonHasAnEntry(t *testing.T) {
	page := read(t, "troubleshooting.md")
	ofPackageValues := reasons(t, "../api/cozystack/v1alpha1/reasons.go")
	reasons := append(reasons(t, "../api/gitops/v1alpha1/reasons.go"), ofPackageValues...)
	for _, reason := range reasons {
		_, entry, found := strings.Cut(page, "\n### "+reason+"\n")
		if !found {
			t.Errorf("troubleshooting.md has no heading ### %s", reason)
			continue
		}
		entry, _, _ = strings.Cut(entry, "\n#")
		if len(strings.TrimSpace(entry)) < 40 {
			t.Errorf("the entry of %s says nothing", reason)
		}
	}
	// A reason that other kinds have too is told of there, and has its entry elsewhere.
	_, section, _ := strings.Cut(page, "\n## Reasons of a PackageValues\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, reason := range ofPackageValues {
		if !strings.Contains(section, "\n### "+reason+"\n") && !strings.Contains(section, "["+reason+"](#"+strings.ToLower(reason)+") ") {
			t.Errorf("the reasons of a PackageValues do not tell of %s", reason)
		}
	}
	for line := range strings.Lines(page) {
		heading, isReason := strings.CutPrefix(strings.TrimSpace(line), "### ")
		if isReason && !slices.Contains(reasons, heading) {
			t.Errorf("troubleshooting.md has an entry of %s, which no code gives", heading)
		}
	}
}

// reasons reads the constants called Reason… of a file.
func reasons(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isValue := node.(*ast.ValueSpec)
		if !isValue || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		if !isLiteral {
			t.Errorf("%s is no literal", spec.Names[0].Name)
			return true
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, value)
		return true
	})
	if len(found) == 0 {
		t.Fatalf("no reason is found in %s", path)
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
