// Command check runs targets of the Makefile one after the other, and ends with what they cost:
// processor seconds by step and by package of tests, beside the budget in budget.txt.
//
//	go run ./test/check fmt lint verify test race prove
//
// Costs are counted in units: a unit is the processor time that a fixed loop takes, measured in the
// same run, so that a slow machine has the same figures as a fast one. A package that costs twice its
// line, or a sum a quarter above the budget, fails the run. With -update it writes what was measured
// into the budget, and the reason beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

// budgetFile holds the budget.
const budgetFile = "test/check/budget.txt"

func main() {
	update := flag.String("update", "", "write what was measured into the budget, for this reason")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := check(ctx, flag.Args(), *update); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// check runs the targets. The first that fails ends the run.
func check(ctx context.Context, targets []string, reason string) error {
	budget, err := readBudget(budgetFile)
	if err != nil {
		return err
	}
	began := clock.System{}.Now()
	var steps []step
	units := []time.Duration{unit()}
	for _, target := range targets {
		s, err := run(ctx, target)
		if err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
		steps = append(steps, s)
		units = append(units, unit())
	}
	took := clock.System{}.Now().Sub(began)
	tests, err := readTests(testsFile)
	if err != nil {
		return err
	}
	now := costs(steps, median(units), tests)
	fmt.Print(table(now, budget, steps, took))
	if reason != "" {
		return os.WriteFile(budgetFile, []byte(budget.with(now, clock.System{}.Now(), reason)), 0o644) //nolint:gosec // a file of the project
	}
	return exceeded(now, budget)
}

// run runs one target and measures what it costs.
func run(ctx context.Context, target string) (step, error) {
	fmt.Printf("\n=== make %s\n", target)
	began := clock.System{}.Now()
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", target) //nolint:gosec // the project's own targets
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		return step{}, err
	}
	watch := watchProcesses(cmd.Process.Pid)
	err := cmd.Wait()
	found := watch.end()
	if err != nil {
		return step{}, errors.Join(err, ctx.Err())
	}
	return step{
		name: target, took: clock.System{}.Now().Sub(began), processor: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), found: found,
	}, nil
}
