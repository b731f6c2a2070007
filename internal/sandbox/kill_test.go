package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test's own program is the sandbox of a process that can be killed.
const (
	childDir            = "PERENNIAL_TEST_SANDBOX_DIR"
	childSecond         = "PERENNIAL_TEST_SANDBOX_SECOND" // set: it has two instances
	childDatabase       = "PERENNIAL_TEST_SANDBOX_DATABASE"
	childSecondDatabase = "PERENNIAL_TEST_SANDBOX_SECOND_DATABASE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := Run(ctx, Options{
			DataDir: dir, Listen: "127.0.0.1:0", MainOnly: true, Contracts: 16, Second: os.Getenv(childSecond) != "",
			Database: os.Getenv(childDatabase), SecondDatabase: os.Getenv(childSecondDatabase),
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// spawn starts a sandbox in a process of its own.
func spawn(t *testing.T, dir string, env ...string) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	child.Env = append(append(os.Environ(), childDir+"="+dir), env...)
	child.Stderr = os.Stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill() // most are dead
		_ = child.Wait()
	})
	return child
}

// ready waits for the child's manifest.
func ready(t *testing.T, child *exec.Cmd, dir string) Manifest {
	t.Helper()
	var m Manifest
	eventually(t, "the sandbox is ready", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, manifestFile))
		return err == nil && json.Unmarshal(text, &m) == nil && m.PID == child.Process.Pid
	})
	return m
}

// readiness is how long a sandbox of 30 contracts may take until it is ready. It takes a
// second on a machine of its own; the tests of other packages run beside this one.
const readiness = 3 * time.Minute

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticks := time.NewTicker(2 * time.Millisecond)
	defer ticks.Stop()
	limit := time.After(readiness)
	for !holds() {
		select {
		case <-ticks.C:
		case <-limit:
			t.Fatalf("not after %s: %s", readiness, what)
		}
	}
}

// killAfter kills the child when something has gone on for a while.
func killAfter(t *testing.T, child *exec.Cmd, while time.Duration) {
	t.Helper()
	<-time.After(while)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // it was killed
}

func TestSandboxContinuesAfterKill(t *testing.T) {
	t.Parallel()
	testKills(t, nil)
}

func testKills(t *testing.T, env []string) {
	dir := t.TempDir()
	for _, while := range []time.Duration{20, 60, 120, 200, 300} { // while it begins
		killAfter(t, spawn(t, dir, env...), while*time.Millisecond)
	}
	child := spawn(t, dir, env...)
	m := ready(t, child, dir)
	keys, was := keysOf(m), beginning()
	for i, call := range []struct {
		path, body string
		while      time.Duration
	}{
		{"/clock", `{"advance":"P1M"}`, 300}, {"/clock", `{"advance":"P1M"}`, 150}, {"/clock", `{"advance":"P1M"}`, 500},
		{"/platform/contracts", checkoutBody(`"nextBillingDate":"2027-06-01"`), 5}, {"/snapshot", ``, 10}, {"/clock", `{"advance":"P1M"}`, 250},
		{"/reset", ``, 5}, {"/reset", ``, 15}, {"/reset", ``, 40}, {"/clock", `{"advance":"P1M"}`, 400},
	} {
		ofSecond(t, m)
		go func() { // the answer is lost
			if res, err := http.Post(m.Control+call.path, "application/json", strings.NewReader(call.body)); err == nil {
				res.Body.Close()
			}
		}()
		killAfter(t, child, call.while*time.Millisecond)
		child = spawn(t, dir, env...)
		m = ready(t, child, dir)
		for base, key := range keysOf(m) {
			if !slices.Contains(slices.Collect(maps.Values(keys)), key) {
				t.Fatalf("a key changed after kill %d", i)
			}
			if status, text := ask(t, "GET", base+"/api/external/v2/activity-logs", key, ""); status != http.StatusOK {
				t.Fatalf("the key of %s after kill %d: %d %s", base, i, status, text)
			}
		}
		var at struct{ Now time.Time }
		if _, text := ask(t, "GET", m.Control+"/clock", "", ""); json.Unmarshal([]byte(text), &at) != nil || at.Now.Before(was) && call.path != "/reset" {
			t.Fatalf("after kill %d it is %s, and was %s", i, at.Now, was)
		}
		was = at.Now
	}
	made := ofSecond(t, m)
	killAfter(t, child, 0)
	b := start(t, Options{DataDir: dir, Second: env != nil})
	b.advance("P2M")
	if made == nil {
		b.checkBooks()
	} else {
		b.checkBooksOfTwo(made...)
	}
}

// keysOf returns the API key of each instance, by its address.
func keysOf(m Manifest) map[string]string {
	keys := map[string]string{m.Subscriptions: m.APIKey}
	if m.Second != nil {
		keys[m.Second.Subscriptions] = m.Second.APIKey
	}
	return keys
}

// ofSecond returns the contracts of the second instance, if there is one: one at the least.
func ofSecond(t *testing.T, m Manifest) []int64 {
	t.Helper()
	if m.Second == nil {
		return nil
	}
	b := &bench{t: t}
	if have := b.found(m.Second.Subscriptions, m.Second.APIKey, ""); len(have) > 0 {
		return have
	}
	return []int64{createAtSecond(t, m)}
}
