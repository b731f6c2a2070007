// Mutate proves the proof: it takes one guard after the other out of the code
// and looks whether the tests notice. It prints a line for each and writes the
// table docs/generated/mutants.md. A guard that no test misses fails the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var r run
	flag.StringVar(&r.only, "only", "", "part of the names of the mutants that are wanted")
	flag.StringVar(&r.table, "table", "", "file for the table; empty: none is written")
	flag.Parse()
	if err := r.all(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run is one run over the mutants of the tree in the working directory.
type run struct {
	only  string
	table string
	tree  string // a copy of the tree
}

// all tries every mutant that is wanted, in the order of their names.
func (r *run) all(ctx context.Context) error {
	files, err := filepath.Glob("mutants/*.patch")
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f string) bool { return !strings.Contains(f, r.only) })
	if len(files) == 0 {
		return fmt.Errorf("no mutants/*%s*.patch here", r.only)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	// Always the same folder, so that compiled packages are found again.
	r.tree = filepath.Join(cache, "perennial-mutants")
	if err := os.RemoveAll(r.tree); err != nil {
		return err
	}
	defer os.RemoveAll(r.tree) //nolint:errcheck // a folder for the moment
	if err := copyTree(ctx, r.tree); err != nil {
		return err
	}
	var results []result
	failed, inCheck := 0, 0
	for i, f := range files {
		m, err := read(f)
		if err != nil {
			return err
		}
		began := clock.System{}.Now()
		verdict := r.try(ctx, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		took := clock.System{}.Now().Sub(began)
		word := "killed"
		switch {
		case verdict != nil:
			failed++
			word = "NOT KILLED: " + verdict.Error()
		case m.inCheck():
			inCheck++
		}
		fmt.Printf("%2d/%d %-40s %6.1fs %s\n", i+1, len(files), m.name, took.Seconds(), word)
		results = append(results, result{m, verdict == nil, took})
	}
	if r.table != "" {
		if err := os.WriteFile(r.table, []byte(tableOf(results)), 0o644); err != nil { //nolint:gosec // a document
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", failed, len(files))
	}
	fmt.Printf("all %d mutants were killed, %d of them by make check\n", len(files), inCheck)
	return nil
}

// try returns nil when the mutant is killed: it compiles, and the command that is
// to kill it fails within its budget.
func (r *run) try(ctx context.Context, m mutant) error {
	patch, err := filepath.Abs(m.file)
	if err != nil {
		return err
	}
	if out, err := r.command(ctx, "git", "apply", patch); err != nil {
		return fmt.Errorf("the patch does not apply: %s", out)
	}
	defer r.command(context.WithoutCancel(ctx), "git", "apply", "-R", patch) //nolint:errcheck // it applied
	limited, cancel := context.WithTimeout(ctx, m.budget)
	defer cancel()
	out, err := r.command(limited, "bash", "-c", m.kill)
	switch {
	case err == nil:
		return errors.New("it survived")
	case limited.Err() != nil:
		return fmt.Errorf("nothing was found within %s", m.budget)
	case strings.Contains(out, "[build failed]") || strings.Contains(out, "no tests to run"):
		return fmt.Errorf("what is to kill it does not run: %.600s", out)
	}
	return nil
}

func (r *run) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the project's own commands
	cmd.Dir = r.tree
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyTree copies what version control would, and what it does not know yet.
func copyTree(ctx context.Context, to string) error {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("list the files of the tree: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name) //nolint:gosec // a file of the tree
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // a copy of the tree
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, text, info.Mode()); err != nil {
			return err
		}
	}
	return nil
}
