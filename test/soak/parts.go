package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tag is the build tag of files with long tests.
const tag = "soak"

// run runs a command of the project, shows what it prints and returns it.
func run(ctx context.Context, name string, args ...string) (string, error) {
	fmt.Println("+", name, strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the project's own commands
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	var out bytes.Buffer
	cmd.Stdout = io.MultiWriter(os.Stdout, &out)
	cmd.Stderr = cmd.Stdout
	err := cmd.Run()
	return out.String(), err
}

// output returns what a command prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output() //nolint:gosec // the project's own commands
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// commitOf names the commit of the tree, and says so when the tree has changed since.
func commitOf(ctx context.Context) (string, error) {
	commit, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := output(ctx, "git", "status", "--porcelain", "--untracked-files=no")
	if changed != "" {
		commit += " with changes that were not committed"
	}
	return commit, err
}

// finished matches the line of a test that has passed, and part that of a part of one: of a
// test whose parts run in parallel only they say how long it took.
var (
	finished = regexp.MustCompile(`(?m)^--- PASS: (Test\w+) \(([0-9.]+)s\)$`)
	partOf   = regexp.MustCompile(`(?m)^ +--- PASS: (Test\w+)/.* \(([0-9.]+)s\)$`)
)

// seconds returns how long a test took, which has passed, or its longest part.
func seconds(out, test, took string) string {
	longest, _ := strconv.ParseFloat(took, 64)
	for _, p := range partOf.FindAllStringSubmatch(out, -1) {
		if s, err := strconv.ParseFloat(p[2], 64); err == nil && p[1] == test {
			longest = max(longest, s)
		}
	}
	return strconv.FormatFloat(longest, 'f', 0, 64)
}

// longTests runs the tests that only the build tag brings.
func longTests(ctx context.Context) (string, error) {
	packages, err := longPackages(ctx)
	if err != nil {
		return "", err
	}
	figures := "| Test | Seconds |\n|---|---|\n"
	var failed error
	for pkg, p := range packages {
		args := []string{"test", "-tags", tag, "-count=1", "-v", "-parallel", "4", "-timeout", "2h"}
		if !p.whole {
			args = append(args, "-run", "^("+strings.Join(p.tests, "|")+")$")
		}
		out, err := run(ctx, "go", append(args, pkg)...)
		passed := finished.FindAllStringSubmatch(out, -1)
		if err != nil || len(passed) < len(p.tests) {
			failed = errors.Join(failed, err, fmt.Errorf("%s: %d tests passed, of %d", pkg, len(passed), len(p.tests)))
			continue
		}
		if p.whole {
			figures += fmt.Sprintf("| all other %d tests of %s | |\n", len(passed)-len(p.tests), strings.TrimPrefix(pkg, "github.com/perennialhq/perennial/"))
			passed = slices.DeleteFunc(passed, func(m []string) bool { return !slices.Contains(p.tests, m[1]) })
		}
		slices.SortFunc(passed, func(a, b []string) int { return strings.Compare(a[1], b[1]) })
		for _, p := range passed {
			figures += fmt.Sprintf("| %s | %s |\n", p[1], seconds(out, p[1], p[2]))
		}
	}
	return figures, failed
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// longPackage is a package with long tests.
type longPackage struct {
	tests []string
	// whole says that the build tag changes more than which tests there are, such as how many variants a
	// test takes: all of its tests are run.
	whole bool
}

// elsewhere are packages whose tests another part runs.
var elsewhere = []string{"github.com/perennialhq/perennial/test/pages"}

// longPackages returns the packages with long tests.
func longPackages(ctx context.Context) (map[string]longPackage, error) {
	const format = "{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}\n{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}\n{{end}}"
	short, err := output(ctx, "go", "list", "-f", format, "./...")
	if err != nil {
		return nil, err
	}
	long, err := output(ctx, "go", "list", "-tags", tag, "-f", format, "./...")
	if err != nil {
		return nil, err
	}
	known, kept := strings.Split(short, "\n"), strings.Split(long, "\n")
	packages := map[string]longPackage{}
	for _, line := range known {
		if pkg, _, found := strings.Cut(line, " "); found && !slices.Contains(kept, line) && !slices.Contains(elsewhere, pkg) {
			packages[pkg] = longPackage{whole: true}
		}
	}
	for _, line := range kept {
		pkg, file, found := strings.Cut(line, " ")
		if !found || slices.Contains(known, line) {
			continue
		}
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			return nil, err
		}
		p := packages[pkg]
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			p.tests = append(p.tests, string(m[1]))
		}
		if p.whole || len(p.tests) > 0 {
			packages[pkg] = p
		}
	}
	if len(packages) == 0 {
		return nil, fmt.Errorf("no file has the build tag %s", tag)
	}
	return packages, nil
}

// pages runs the tests of pages on PostgreSQL. What a check shows of them is on SQLite.
func pages(ctx context.Context) (string, error) {
	out, err := run(ctx, "go", "test", "-tags", tag, "-count=1", "-v", "-parallel", "2", "-timeout", "2h", "./test/pages", "-postgres")
	if err != nil {
		return "", err
	}
	figures := "| Test | Seconds |\n|---|---|\n"
	for _, p := range finished.FindAllStringSubmatch(out, -1) {
		figures += fmt.Sprintf("| %s | %s |\n", p[1], seconds(out, p[1], p[2]))
	}
	return figures, nil
}

var passedPackage = regexp.MustCompile(`(?m)^ok `)

// race runs the race detector on more packages than a check does.
func race(ctx context.Context) (string, error) {
	out, err := run(ctx, "make", "race", "RACE=$(RACE_LONG)")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The tests of %d packages passed.\n", len(passedPackage.FindAllString(out, -1))), nil
}

// proof runs the proof.
func (s *soak) proof(ctx context.Context) (string, error) { return s.prove(ctx, "proof.md", "") }

// movingProof runs the proof of moves.
func (s *soak) movingProof(ctx context.Context) (string, error) {
	return s.prove(ctx, "proof-moving.md", " --moving")
}

// prove runs a proof and keeps its report, which holds its figures.
func (s *soak) prove(ctx context.Context, report, more string) (string, error) {
	arguments := fmt.Sprintf("PROVE=--renewals %d --faults %d%s", s.renewals, s.renewals/10, more)
	if _, err := run(ctx, "make", "prove", arguments); err != nil {
		return "", err
	}
	text, err := os.ReadFile("bin/proof.md")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join("docs/generated", report), text, 0o644); err != nil { //nolint:gosec // a document
		return "", err
	}
	figures := fmt.Sprintf("The whole report is [%s](%s).\n\n| | |\n|---|---|\n", report, report)
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"Command", "Worlds", "Renewals (", "Double", "Missed", "Unexplained", "Faults", "Deaths", "Moves that", "Contracts that"} {
			if strings.HasPrefix(line, "| "+name) && strings.Count(line, "|") == 3 {
				figures += line
			}
		}
	}
	return figures, nil
}

// calendar compares every day.
func calendar(ctx context.Context) (string, error) {
	out, err := run(ctx, "go", "test", "-count=1", "-v", "-timeout", "2h", "./internal/domain/cadence", "./internal/domain/cadence/vectors", "-run", "Zone", "-exhaustive")
	if err != nil {
		return "", err
	}
	figures := "| Test | Seconds |\n|---|---|\n"
	for _, p := range finished.FindAllStringSubmatch(out, -1) {
		figures += fmt.Sprintf("| %s | %s |\n", p[1], seconds(out, p[1], p[2]))
	}
	return figures, nil
}

var killed = regexp.MustCompile(`(?m)^all (\d+) mutants were killed, (\d+) of them by make check$`)

// mutants tries them all.
func mutants(ctx context.Context) (string, error) {
	out, err := run(ctx, "go", "run", "./test/mutate", "-table", "docs/generated/mutants.md")
	if err != nil {
		return "", err
	}
	m := killed.FindStringSubmatch(out)
	if m == nil {
		return "", errors.New("the run did not say how many mutants were killed")
	}
	return fmt.Sprintf("All %s were killed, %s of them by tests of `make check` ([table](mutants.md)).\n", m[1], m[2]), nil
}
