// Command withpg runs a command with a PostgreSQL server that is started for it and named in its
// environment, and answers with its exit code:
//
//	go run ./test/withpg go run ./test/bench
//
// As root it installs PostgreSQL first when it is missing. With -tests the command runs tests whose
// results are kept: in the copy of this folder (package tree), with a server at an address and
// temporary files in a folder that are the same for every run. All three are part of the key under
// which Go keeps the result of a test.
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

	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/test/tree"
)

func main() {
	tests := flag.Bool("tests", false, "run tests whose results Go keeps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := run
	if *tests {
		do = runTests
	}
	code, err := do(ctx, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	stop()
	os.Exit(code)
}

// run runs a command with a server and returns its exit code, or 1 when it could not be run.
func run(ctx context.Context, command []string) (int, error) {
	return withServer(ctx, 0, ".", nil, command)
}

// runTests does the same in the copy of this folder.
func runTests(ctx context.Context, command []string) (int, error) {
	dir, release, err := tree.Copy(ctx, "test", ".")
	if err != nil {
		return 1, err
	}
	defer release.Close() //nolint:errcheck // the command's end is what counts
	folder, err := pgtest.TempDir(dir)
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the command's end is what counts
	// The compiler's temporary files are large, and stay where they were.
	return withServer(ctx, pgtest.Port, dir, []string{"GOTMPDIR=" + os.TempDir(), "TMPDIR=" + folder}, command)
}

// withServer runs a command in a folder with a server at a port; 0: any free one.
func withServer(ctx context.Context, port int, dir string, env, command []string) (int, error) {
	if len(command) == 0 {
		return 2, errors.New("name the command to run")
	}
	if os.Getenv(pgtest.Variable) == "" {
		cluster, err := start(ctx, port)
		if err != nil {
			return 1, err
		}
		defer cluster.Stop() //nolint:errcheck // the command's end is what counts
		env = append(env, pgtest.Variable+"="+cluster.URL)
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the developer's own command
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Env = append(os.Environ(), env...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return max(ended.ExitCode(), 1), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// start starts a server, installing it when it is missing and that is possible.
func start(ctx context.Context, port int) (*pgtest.Cluster, error) {
	cluster, err := pgtest.StartAt(ctx, port)
	if !errors.Is(err, pgtest.ErrNotInstalled) || os.Geteuid() != 0 {
		return cluster, err
	}
	if _, lookup := exec.LookPath("apt-get"); lookup != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "The tests need PostgreSQL's server, which is not installed on this machine. Installing the package postgresql with apt-get, from this machine's own package sources.")
	for _, args := range [][]string{{"update"}, {"install", "--yes", "--no-install-recommends", "postgresql"}} {
		install := exec.CommandContext(ctx, "apt-get", args...)
		install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		install.Stdout, install.Stderr = os.Stderr, os.Stderr
		if err := install.Run(); err != nil {
			return nil, fmt.Errorf("apt-get %s: %w", args[0], err)
		}
	}
	return pgtest.StartAt(ctx, port)
}
