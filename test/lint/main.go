// Command lint runs the linters on a copy of this folder. The copy's place is the same for
// every checkout, so that all of them share one cache: golangci-lint keeps the paths of the
// files it has looked at, and those of another checkout mislead it.
//
//	go run ./test/lint
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/test/tree"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := lint(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
}

// lint lints both modules in the copy.
func lint(ctx context.Context) (err error) {
	copied, release, err := tree.Copy(ctx, "lint", ".")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release.Close()) }()
	cache := filepath.Join(filepath.Dir(copied), "cache")
	return errors.Join(
		run(ctx, cache, copied, "tools/go.mod"),
		run(ctx, cache, filepath.Join(copied, "client"), "../tools/go.mod"),
	)
}

// run lints the module in a folder of the copy.
func run(ctx context.Context, cache, module, tools string) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+tools, "golangci-lint", "run", "--allow-parallel-runners", "./...") //nolint:gosec // the project's own command
	cmd.Dir, cmd.Stdout, cmd.Stderr = module, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOLANGCI_LINT_CACHE="+cache)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd.Run()
}
