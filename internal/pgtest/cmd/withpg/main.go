// Command withpg runs a command with a PostgreSQL server that is started for
// it and named in its environment, and answers with its exit code:
//
//	go run ./internal/pgtest/cmd/withpg -- go test ./...
//
// As root it installs PostgreSQL first when it is missing. With -memory before the two dashes, the
// command's temporary files are kept in memory, save those of the compiler.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/perennialhq/perennial/internal/pgtest"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpg:", err)
	}
	os.Exit(code)
}

// run returns the exit code of the command, or 1 when it could not be run.
func run(command []string) (int, error) {
	inMemory := len(command) > 0 && command[0] == "-memory"
	if inMemory {
		command = command[1:]
	}
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return 2, errors.New("name the command to run")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var env []string
	if os.Getenv(pgtest.Variable) == "" {
		cluster, err := start(ctx)
		if err != nil {
			return 1, err
		}
		defer cluster.Stop() //nolint:errcheck // the command's end is what counts
		env = []string{pgtest.Variable + "=" + cluster.URL}
	}
	if inMemory {
		folder, err := pgtest.TempDir()
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(folder) //nolint:errcheck // the command's end is what counts
		env = append(env, "GOTMPDIR="+os.TempDir(), "TMPDIR="+folder)
	}
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Env = append(os.Environ(), env...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
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
func start(ctx context.Context) (*pgtest.Cluster, error) {
	cluster, err := pgtest.Start(ctx)
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
	return pgtest.Start(ctx)
}
