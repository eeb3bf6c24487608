package escapes_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// row is one escape, and what closes it.
type row struct {
	section, escape string
	// Whether it is closed with all layers, and with one of them off.
	allOn, webhookOff, policyOff, flagsOff bool
	// alone are the layers each of which closes it alone.
	alone []string
	// note says why one layer must do, or what the escape is.
	note string
}

const columns = "%-66s %-7s %-11s %-10s %-9s %-24s %s"

func closedOrOpen(closed bool) string {
	if closed {
		return "closed"
	}
	return "open"
}

func (r row) String() string {
	return strings.TrimRight(fmt.Sprintf(columns, r.escape, closedOrOpen(r.allOn), closedOrOpen(r.webhookOff),
		closedOrOpen(r.policyOff), closedOrOpen(r.flagsOff), strings.Join(r.alone, " "), r.note), " ")
}

// checkRows says which rows of a matrix may not stand: open without being known for it, or
// closed by one layer for no reason.
func checkRows(rows []row) []string {
	var wrong []string
	for _, r := range rows {
		switch {
		case !r.allOn && !strings.HasPrefix(r.note, "open: "):
			wrong = append(wrong, fmt.Sprintf("%s: %s is open with all layers on", r.section, r.escape))
		case r.allOn && strings.HasPrefix(r.note, "open: "):
			wrong = append(wrong, fmt.Sprintf("%s: %s is said to be open, and is closed", r.section, r.escape))
		case len(r.alone) < 2 && r.note == "":
			wrong = append(wrong, fmt.Sprintf("%s: %s is closed by %v alone, and nothing says why one layer must do", r.section, r.escape, r.alone))
		}
	}
	return wrong
}

// render is the matrix as a table.
func render(rows []row) string {
	var sections []string
	for _, r := range rows {
		if !slices.Contains(sections, r.section) {
			sections = append(sections, r.section)
		}
	}
	ordered := slices.SortedStableFunc(slices.Values(rows), func(a, b row) int {
		return slices.Index(sections, a.section) - slices.Index(sections, b.section)
	})
	var out strings.Builder
	section := ""
	for _, r := range ordered {
		if r.section != section {
			if section != "" {
				out.WriteString("\n")
			}
			section = r.section
			out.WriteString(strings.ToUpper(section) + "\n")
			out.WriteString(fmt.Sprintf(columns, "", "all on", "webhook off", "policy off", "flags off", "closed alone by", "why one must do") + "\n")
		}
		out.WriteString(r.String() + "\n")
	}
	return out.String()
}

// compare holds a matrix against the one that is committed.
func compare(t *testing.T, rows []row, file string) {
	t.Helper()
	for _, wrong := range checkRows(rows) {
		t.Error(wrong)
	}
	got := render(rows)
	t.Logf("the matrix:\n%s", got)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	t.Errorf("the matrix is another than that in %s", file)
	committed, found := bySection(string(want)), bySection(got)
	for _, line := range found {
		if !slices.Contains(committed, line) {
			t.Errorf("not in %s: %s", file, line)
		}
	}
	for _, line := range committed {
		if !slices.Contains(found, line) {
			t.Errorf("in %s, and not so: %s", file, line)
		}
	}
}

// bySection puts the heading of its section before each line: rows of several sections
// read the same.
func bySection(matrix string) []string {
	var lines []string
	section := ""
	for line := range strings.Lines(matrix) {
		if line == strings.ToUpper(line) {
			section = strings.TrimSpace(line)
		}
		lines = append(lines, section+": "+strings.TrimSpace(line))
	}
	return lines
}

// TestMatrixRefusesWhatMayNotStand sees that a row cannot slip through.
func TestMatrixRefusesWhatMayNotStand(t *testing.T) {
	for name, test := range map[string]struct {
		row   row
		wrong bool
	}{
		"closed by two":                    {row{allOn: true, alone: []string{"policy", "roles"}}, false},
		"closed by one, with a reason":     {row{allOn: true, alone: []string{"policy"}, note: "the URL is all there is"}, false},
		"closed by one, without a reason":  {row{allOn: true, alone: []string{"policy"}}, true},
		"closed by none alone":             {row{allOn: true}, true},
		"open":                             {row{note: "a reason"}, true},
		"open, as is written down":         {row{note: "open: a public name"}, false},
		"written down as open, and closed": {row{allOn: true, alone: []string{"policy", "roles"}, note: "open: a public name"}, true},
	} {
		if wrong := checkRows([]row{test.row}); (len(wrong) > 0) != test.wrong {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}
