// Package process runs the program as it is run in earnest: built, and in
// processes of their own that can be stopped and killed.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/config"
)

// Program is the built program and the arguments that all its commands get.
type Program struct {
	Path string
	Env  []string // PERENNIAL_… settings
}

// Settings are what all commands of an installation have in common.
type Settings struct {
	Database    string // file or postgres:// address
	PlatformURL string
	PublicURL   string
	AppSecret   string
}

// SecretKeyText is the key of every installation: 32 bytes in base64.
const SecretKeyText = "cGVyZW5uaWFsIHRlc3Qga2V5OiAzMiBieXRlcyAhISE="

// Build builds the program into a folder.
func Build(ctx context.Context, folder string, s Settings) (Program, error) {
	p := Program{Path: filepath.Join(folder, "perennial")}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", p.Path, "github.com/perennialhq/perennial/cmd/perennial")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return Program{}, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return p.With(s), nil
}

// With returns the same program for another installation.
func (p Program) With(s Settings) Program {
	return Program{Path: p.Path, Env: []string{
		"PERENNIAL_DATABASE=" + s.Database, "PERENNIAL_SECRET_KEY=" + SecretKeyText, "PERENNIAL_APP_SECRET=" + s.AppSecret,
		"PERENNIAL_PLATFORM_URL=" + s.PlatformURL, "PERENNIAL_PUBLIC_URL=" + s.PublicURL,
	}}
}

// Migrate creates the database, or brings it up to date.
func (p Program) Migrate(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.Path, "migrate")
	cmd.Env = append(os.Environ(), p.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("migrate the database: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Connect connects a store that charges at the given local time, and confirms it.
func (p Program) Connect(ctx context.Context, domain, token string, hour, minute int) error {
	connect := func() error {
		_, err := p.shops(ctx, token+"\n", "connect", "--shop", domain, "--token-file", "-", "--order-time", fmt.Sprintf("%02d:%02d", hour, minute))
		return err
	}
	if err := connect(); err != nil {
		return err
	}
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for n := 1; ; n++ {
		out, err := p.shops(ctx, "", "confirm", domain, "--yes")
		if err == nil || n == 120 || !bytes.Contains(out, []byte("are still being read")) {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return err
		}
		// The command and a node have read the store at once, and neither to its end. A node with
		// the waits of production would try again in ten minutes.
		if n%10 == 0 {
			if err := connect(); err != nil {
				return err
			}
		}
	}
}

// shops runs a command about stores and returns what it prints.
func (p Program) shops(ctx context.Context, in string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, p.Path, append([]string{"shops"}, args...)...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("shops %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return out, err
}

// Node is one process of the service.
type Node struct {
	Address string // host:port of its web side

	cmd   *exec.Cmd
	ended chan struct{}
}

// Serve starts a node. What it logs goes to log.
func (p Program) Serve(address string, log io.Writer, flags ...string) (*Node, error) {
	// The node must outlive every context but end with its own signals.
	cmd := exec.Command(p.Path, append([]string{"serve", "--listen", address, "--memberships-listen", ""}, flags...)...) //nolint:noctx // see above
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	n := &Node{Address: address, cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(n.ended)
		_ = cmd.Wait() // ExitCode tells
	}()
	return n, nil
}

// Ready waits until the node answers that it is ready.
func (n *Node) Ready(ctx context.Context) error { return n.says(ctx, http.StatusOK) }

// Unready waits until the node, alive, answers that it is not ready.
func (n *Node) Unready(ctx context.Context) error {
	return n.says(ctx, http.StatusServiceUnavailable)
}

// impatient does not wait for another process that took a dead node's port and never
// answers.
var impatient = &http.Client{Timeout: 5 * time.Second}

// says waits until the node answers with a status when it is asked whether it is
// ready.
func (n *Node) says(ctx context.Context, status int) error {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.Address+"/readyz", nil)
		if err != nil {
			return err
		}
		if res, err := impatient.Do(req); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == status {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the node on %s to answer %d: %w", n.Address, status, ctx.Err())
		case <-n.ended:
			return fmt.Errorf("the node on %s ended with exit code %d", n.Address, n.cmd.ProcessState.ExitCode())
		case <-ticks.C:
		}
	}
}

// PID is the process's number.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Freeze stops the node as SIGSTOP does, and returns when it stands still.
func (n *Node) Freeze() error {
	if err := n.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(n.PID(), &status, syscall.WUNTRACED, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return err
		case !status.Stopped():
			return fmt.Errorf("the node on %s ended", n.Address)
		default:
			return nil
		}
	}
}

// Thaw lets a frozen node go on.
func (n *Node) Thaw() error { return n.cmd.Process.Signal(syscall.SIGCONT) }

// Kill ends the node as kill -9 does and waits until it is gone.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it may be gone already
	<-n.ended
}

// Stop asks the node to end and returns its exit code.
func (n *Node) Stop(ctx context.Context) (code int, err error) {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	select {
	case <-n.ended:
		return n.cmd.ProcessState.ExitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the node on %s to end: %w", n.Address, ctx.Err())
	}
}

// Ports outside of the system's ephemeral range, so that the port of a dead node is free
// when it comes back.
const firstPort, portCount = 20_000, 10_000

// FreeAddress returns a free address of this machine.
func FreeAddress(ctx context.Context) (string, error) {
	var taken error
	for range 100 {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(portCount))) //nolint:gosec // any port will do
		if err == nil {
			return l.Addr().String(), l.Close()
		}
		taken = err
	}
	return "", fmt.Errorf("find a free port from %d on: %w", firstPort, taken)
}

// SecretKey is the key of every installation.
func SecretKey() []byte {
	key, err := config.Database{SecretKey: SecretKeyText}.Key()
	if err != nil {
		panic(err) // the constant above
	}
	return key[:]
}

// NoonZone returns a zone in which it is about noon, so that no day ends while a
// test runs.
func NoonZone(now time.Time) (*time.Location, error) {
	west := now.UTC().Hour() - 12
	return time.LoadLocation(fmt.Sprintf("Etc/GMT%+d", west)) // the names count to the west
}
