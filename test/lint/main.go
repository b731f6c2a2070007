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
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := lint(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lint:", err)
		os.Exit(1)
	}
}

// retry is how long one checkout waits until it looks again whether another has ended.
const retry = 100 * time.Millisecond

// lint copies this folder and lints both modules in the copy. Checkouts take turns.
func lint(ctx context.Context) (err error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find a place for the copy: %w", err)
	}
	dir := filepath.Join(caches, "perennial", "lint")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, retry); err != nil {
		return fmt.Errorf("wait for the linters of another checkout: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	copied := filepath.Join(dir, "source")
	if err := mirror(".", copied); err != nil {
		return fmt.Errorf("copy this folder: %w", err)
	}
	return errors.Join(
		run(ctx, dir, copied, "tools/go.mod"),
		run(ctx, dir, filepath.Join(copied, "client"), "../tools/go.mod"),
	)
}

// run lints the module in a folder of the copy.
func run(ctx context.Context, dir, module, tools string) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+tools, "golangci-lint", "run", "--allow-parallel-runners", "./...") //nolint:gosec // the project's own command
	cmd.Dir, cmd.Stdout, cmd.Stderr = module, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOLANGCI_LINT_CACHE="+filepath.Join(dir, "cache"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd.Run()
}

// left are folders that hold no source.
func left(path string) bool {
	switch path {
	case ".git", "bin", "dist":
		return true
	}
	return false
}

// mirror makes one folder like another. It leaves alone what is alike, so that its time of
// change stays.
func mirror(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	if err := prune(from, to); err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir() && left(rel):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		return same(path, target)
	})
}

// same gives one file the content of another.
func same(from, to string) error {
	text, err := os.ReadFile(from) //nolint:gosec // a file of this folder
	if err != nil {
		return err
	}
	if is, err := os.ReadFile(to); err == nil && string(is) == string(text) { //nolint:gosec // its copy
		return nil
	}
	return os.WriteFile(to, text, 0o600)
}

// prune removes from the copy what this folder does not have.
func prune(from, to string) error {
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(to, path)
		if err != nil {
			return err
		}
		is, err := os.Lstat(filepath.Join(from, rel))
		switch {
		case err == nil && is.IsDir() == d.IsDir():
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}
