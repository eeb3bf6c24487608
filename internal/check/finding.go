package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Level says how bad a finding is.
type Level string

const (
	// Error is what the cluster would refuse, or drop without a word.
	Error Level = "error"
	// Warning is what would be taken, and surprise.
	Warning Level = "warning"
)

// Rule names what a finding is about, for those who filter findings.
type Rule string

// The rules.
const (
	RuleBuild       Rule = "build"
	RuleDuplicate   Rule = "duplicate"
	RuleUnknownKind Rule = "unknown-kind"
	RuleSchema      Rule = "schema"
	RuleValues      Rule = "package-values"
	RuleNoPackage   Rule = "no-package"
	RuleNoComponent Rule = "no-component"
	RuleList        Rule = "list-replaced"
	RuleNoEffect    Rule = "no-effect"
	RulePackage     Rule = "package"
	RulePlainSecret Rule = "plain-secret"
	RuleTenant      Rule = "tenant"
)

// Finding is one thing that is wrong, or that would surprise.
type Finding struct {
	// Path of the file, from the root of the repository.
	Path string `json:"path"`
	// Line of it, from 1; 0 where that is not known.
	Line  int   `json:"line,omitempty"`
	Level Level `json:"level"`
	Rule  Rule  `json:"rule"`
	// Object is kind and name, with the namespace if there is one.
	Object string `json:"object,omitempty"`
	// Message says what is wrong and how to mend it.
	Message string `json:"message"`
}

// String is the finding on one line, as compilers write theirs.
func (f Finding) String() string {
	text := fmt.Sprintf("%s: %s: ", f.place(), f.Level)
	if f.Object != "" {
		text += f.Object + ": "
	}
	return text + f.Message + " [" + string(f.Rule) + "]"
}

// place is the file, with the line where it is known.
func (f Finding) place() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.Path, f.Line)
	}
	return f.Path
}

// sorted are the findings by place, each once.
func sorted(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(string(a.Level), string(b.Level)), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(findings)
}

// Count says how many findings are of a level.
func Count(findings []Finding, level Level) int {
	count := 0
	for _, finding := range findings {
		if finding.Level == level {
			count++
		}
	}
	return count
}
