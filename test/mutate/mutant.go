package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// mutant is a patch that takes one guard out of the code. Lines before the patch
// say which, and what is to notice:
//
//	Guard: the intent is committed before the platform is called
//	Without: a process that dies after the call charges again
//	Kill: go test ./internal/domain/billing -run TestIntent
//	Budget: 60s
type mutant struct {
	file, name string
	guard      string
	without    string
	kill       string // a shell command that fails when the guard is missing
	budget     time.Duration
}

// defaultBudget is how long a mutant that names no budget may live.
const defaultBudget = 2 * time.Minute

func read(file string) (mutant, error) {
	text, err := os.ReadFile(file) //nolint:gosec // a file of the tree
	if err != nil {
		return mutant{}, err
	}
	m := mutant{file: file, name: strings.TrimSuffix(filepath.Base(file), ".patch"), budget: defaultBudget}
	head, _, found := strings.Cut(string(text), "\n--- ")
	if !found {
		return m, fmt.Errorf("%s holds no patch", file)
	}
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "Guard":
			m.guard = value
		case "Without":
			m.without = value
		case "Kill":
			m.kill = value
		case "Budget":
			if m.budget, err = time.ParseDuration(value); err != nil {
				return m, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if m.guard == "" || m.without == "" || m.kill == "" {
		return m, fmt.Errorf("%s must say Guard, Without and Kill in its first lines", file)
	}
	return m, nil
}

// inCheck reports whether what kills the mutant is a part of make check: a test that
// needs no build tag.
func (m mutant) inCheck() bool { return !strings.Contains(m.kill, "-tags soak") }

// by names the command of developers that kills the mutant.
func (m mutant) by() string {
	if m.inCheck() {
		return "`make check`"
	}
	return "`make soak`"
}

// result is what became of a mutant.
type result struct {
	mutant

	killed bool
	took   time.Duration
}

// tableOf returns the results as a document.
func tableOf(results []result) string {
	var b strings.Builder
	killed, inCheck := 0, 0
	for _, r := range results {
		if r.killed {
			killed++
			if r.inCheck() {
				inCheck++
			}
		}
	}
	fmt.Fprintf(&b, `# Mutants

Each patch in `+"`mutants/`"+` takes one guard out of the code. The tests must notice: what kills a mutant is a command that fails when the guard is missing
and passes when it is there. `+"`make mutants`"+` tries them all and writes this table; a survivor fails the run.

%d of %d were killed, %d of them by tests of `+"`make check`"+`.

| Mutant | Guard | Without it | Killed by | Part of | Seconds |
|---|---|---|---|---|---|
`, killed, len(results), inCheck)
	for _, r := range results {
		by := "`" + strings.ReplaceAll(r.kill, "|", "\\|") + "`"
		if !r.killed {
			by = "**survived** " + by
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.0f |\n", r.name, r.guard, r.without, by, r.by(), r.took.Seconds())
	}
	return b.String()
}
