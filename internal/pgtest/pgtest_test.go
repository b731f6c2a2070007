package pgtest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/perennialhq/perennial/internal/pgtest"
)

func TestEachTestHasOwnDatabase(t *testing.T) {
	t.Parallel()
	for range 2 {
		conn, err := pgx.Connect(t.Context(), pgtest.Empty(t))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(t.Context(), "CREATE TABLE mine (id int); CREATE EXTENSION pg_trgm"); err != nil {
			t.Error(err)
		}
	}
}

func TestClusterEndsWhenStopped(t *testing.T) {
	t.Parallel()
	c, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), c.URL); err == nil {
		conn.Close(t.Context())
		t.Error("it still answers")
	}
}

func TestCrashedClusterKeepsCommittedRows(t *testing.T) {
	t.Parallel()
	c, err := pgtest.StartDurable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	ask := func(query string) (n int) {
		conn, err := pgx.Connect(t.Context(), c.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			t.Fatal(err)
		}
		return n
	}
	ask("CREATE TABLE kept AS SELECT 7 AS n")
	if err := c.Crash(); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), c.URL); err == nil {
		conn.Close(t.Context())
		t.Error("it answers after its crash")
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := ask("SELECT n FROM kept"); got != 7 {
		t.Errorf("kept %d", got)
	}
}

// childVariable makes the test process below start a cluster, tell its URL and
// die.
const childVariable = "PGTEST_CHILD"

func TestClusterEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv(childVariable) != "" {
		c, err := pgtest.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(c.URL)
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		self.Kill()
		select {}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), childVariable+"=1")
	url, err := child.Output()
	if _, died := errors.AsType[*exec.ExitError](err); !died || len(url) == 0 {
		t.Fatalf("the child printed %q and ended with %v", url, err)
	}
	deadline := time.After(time.Minute)
	for {
		conn, err := pgx.Connect(t.Context(), string(url))
		if err != nil {
			return
		}
		conn.Close(t.Context())
		select {
		case <-deadline:
			t.Fatal("it still answers")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
