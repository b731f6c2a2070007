package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// budget is what the parts of a check may cost, in units.
type budget struct {
	lines   map[string]float64            // by the name of a line
	tests   map[string]map[string]float64 // by the name of a line, then of a test
	reasons []string                      // of its changes, the oldest first
}

// Limits of what exceeds the budget.
const (
	packageLimit = 2.0  // times its line
	packageSlack = 3.0  // units above its line that a package may take in any case
	sumLimit     = 1.25 // times the sum of the lines
	longestTests = 5    // are kept of each package
	shown        = 1.0  // units from which a package has a row of its own in the table
)

const head = `# What the parts of make check may cost, in units: the processor time that the loop in unit.go
# takes on the machine that runs the check. A package's line is followed by its longest tests, in
# units of wall time. Written by make budget; each change has its reason at the end.

`

// readBudget reads the file of the budget. Without one nothing has a line.
func readBudget(file string) (budget, error) {
	b := budget{lines: map[string]float64{}, tests: map[string]map[string]float64{}}
	text, err := os.ReadFile(filepath.Clean(file))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return b, err
	}
	of := ""
	for row := range strings.Lines(strings.TrimPrefix(string(text), head)) {
		if reason, is := strings.CutPrefix(row, "# "); is {
			b.reasons = append(b.reasons, strings.TrimSpace(reason))
			continue
		}
		number, name, found := strings.Cut(strings.TrimSpace(row), " ")
		if !found {
			continue
		}
		units, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return b, fmt.Errorf("%s: %q: a row is a number and a name", file, strings.TrimSpace(row))
		}
		name = strings.TrimSpace(name)
		if strings.HasPrefix(row, "\t") {
			b.tests[of][name] = units
			continue
		}
		of = name
		b.lines[name], b.tests[name] = units, map[string]float64{}
	}
	return b, nil
}

// with returns the text of the budget after the steps that ran were changed to what was measured.
func (b budget) with(now []line, at time.Time, reason string) string {
	var text strings.Builder
	text.WriteString(head)
	for _, l := range slices.Concat(now, b.without(now)) {
		if !l.inBudget() {
			continue
		}
		fmt.Fprintf(&text, "%.1f %s\n", l.units, l.name())
		for _, t := range l.tests[:min(len(l.tests), longestTests)] {
			if l.units >= shown {
				fmt.Fprintf(&text, "\t%.1f %s\n", t.units, t.test)
			}
		}
	}
	text.WriteString("\n")
	for _, r := range append(b.reasons, at.UTC().Format(time.DateOnly)+": "+reason) {
		text.WriteString("# " + r + "\n")
	}
	return text.String()
}

// without returns the lines of steps that did not run, as they are.
func (b budget) without(now []line) (kept []line) {
	for _, name := range slices.Sorted(maps.Keys(b.lines)) {
		step, part, _ := strings.Cut(name, " ")
		if slices.ContainsFunc(now, func(l line) bool { return l.step == step }) {
			continue
		}
		l := line{step: step, part: part, units: b.lines[name]}
		for test, units := range b.tests[name] {
			l.tests = append(l.tests, timings{test, units})
		}
		slices.SortFunc(l.tests, func(a, b timings) int { return cmp.Or(cmp.Compare(b.units, a.units), strings.Compare(a.test, b.test)) })
		kept = append(kept, l)
	}
	return kept
}

// has reports whether a step has a budget: one that was never measured has none yet.
func (b budget) has(step string) bool {
	for name := range b.lines {
		if strings.HasPrefix(name, step+" ") {
			return true
		}
	}
	return false
}

// sum returns the sum of all lines.
func (b budget) sum() (units float64) {
	for _, one := range b.lines {
		units += one
	}
	return units
}

// table shows what was measured beside the budget.
func table(now []line, b budget, steps []step, took time.Duration) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\nWhat the check cost\tunits\tbudget\tlargest process\ttook\n")
	sum, largest := 0.0, int64(0)
	for _, s := range steps {
		all, below, small := 0.0, 0.0, 0
		var rows strings.Builder
		for _, l := range now {
			if l.step != s.name {
				continue
			}
			all += l.units
			allowed, memory := "", ""
			if l.inBudget() {
				sum += l.units
				allowed = fmt.Sprintf("%.1f", b.lines[l.name()])
			}
			if l.memory > 0 {
				memory = fmt.Sprintf("%d MB", l.memory>>20)
				largest = max(largest, l.memory)
			}
			if l.units < shown {
				below, small = below+l.units, small+1
				continue
			}
			fmt.Fprintf(&rows, "  %s\t%.1f\t%s\t%s\t\n", l.part, l.units, allowed, memory)
		}
		fmt.Fprintf(w, "%s\t%.1f\t\t\t%s\n%s", s.name, all, s.took.Round(time.Second), rows.String())
		if small > 0 {
			fmt.Fprintf(w, "  (%d smaller parts)\t%.1f\t\t\t\n", small, below)
		}
	}
	fmt.Fprintf(w, "sum of what has a budget\t%.1f\t%.1f\t%d MB\t%s\n", sum, b.sum(), largest>>20, took.Round(time.Second))
	w.Flush() //nolint:errcheck // it writes to memory
	return text.String()
}

// exceeded returns an error that names the lines that are over the budget, and the tests that grew.
func exceeded(now []line, b budget) error {
	var over []string
	sum := 0.0
	now = slices.DeleteFunc(slices.Clone(now), func(l line) bool { return !l.inBudget() || !b.has(l.step) })
	for _, l := range now {
		sum += l.units
		allowed := b.lines[l.name()]
		if l.units > max(packageLimit*allowed, allowed+packageSlack) {
			over = append(over, fmt.Sprintf("%s costs %.1f units, of %.1f%s", l.name(), l.units, allowed, l.grown(b)))
		}
	}
	if most := sumLimit * b.sum(); sum > most {
		over = append(over, fmt.Sprintf("the sum is %.1f units, of %.1f", sum, b.sum()))
		for _, l := range now {
			if more := l.units - b.lines[l.name()]; more > packageSlack {
				over = append(over, fmt.Sprintf("%s costs %.1f more%s", l.name(), more, l.grown(b)))
			}
		}
	}
	if len(over) == 0 {
		return nil
	}
	return errors.New("the check costs more than its budget:\n  " + strings.Join(over, "\n  ") +
		"\nMake it cheaper (CONTRIBUTING.md, \"Where does my test go?\"), or change the budget in this commit: make budget REASON=\"…\"")
}

// grown names the tests of a package that take longer than they did, the worst first.
func (l line) grown(b budget) string {
	before := b.tests[l.name()]
	list := slices.Clone(l.tests)
	for i := range list {
		list[i].units -= before[list[i].test]
	}
	slices.SortFunc(list, func(a, b timings) int { return cmp.Compare(b.units, a.units) })
	var names []string
	for _, t := range list[:min(len(list), longestTests)] {
		if t.units > 0.1 {
			names = append(names, fmt.Sprintf("%s +%.1f", t.test, t.units))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
