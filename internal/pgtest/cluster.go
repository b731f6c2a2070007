// Package pgtest gives tests PostgreSQL databases of their own: in the server
// that the environment names, or in one that it starts from the installed
// binaries and that ends with the process.
package pgtest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Variable is the environment variable that names a running server, by the URL
// of a database in which its user may create others. With it several test
// processes share one server.
const Variable = "PERENNIAL_TEST_POSTGRES"

// ErrNotInstalled says that there are no server binaries on this machine.
var ErrNotInstalled = errors.New("PostgreSQL is not installed: run apt-get install postgresql, or name a server in " + Variable)

// Cluster is a PostgreSQL server that was started for tests. It forgets all when
// it ends.
type Cluster struct {
	// URL is that of its first database.
	URL string

	guard *exec.Cmd
	leash io.WriteCloser // takes the guard's orders
	heard *bufio.Reader  // tells that they were carried out
}

// guardScript runs the server until its standard input ends, which it does when
// this process ends in whatever way, and removes its files. Before that it takes
// orders, and repeats each when it is done. Its arguments are the folder and then
// the command.
const guardScript = `
folder=$1; shift
"$@" >>"$folder/log" 2>&1 </dev/null &
server=$!
while read -r order; do
	if [ "$order" = up ]; then
		"$@" >>"$folder/log" 2>&1 </dev/null &
		server=$!
	else
		kill -QUIT "$server" 2>/dev/null
		wait "$server"
	fi
	echo "$order"
done
kill -INT "$server" 2>/dev/null
wait "$server"
rm -rf "$folder"
`

// The guard's orders.
const orderDown, orderUp = "down", "up"

// Where Linux keeps files in memory, and how much of it must be free for a cluster. In
// memory a test's database is there in 30 ms, on a disk in 160 ms.
const (
	memoryFolder = "/dev/shm"
	memoryNeeded = 1 << 30 // bytes
)

// memory returns a folder in memory, or "" for the one of temporary files.
func memory() string {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryFolder, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < memoryNeeded {
		return ""
	}
	return memoryFolder
}

// TempDir makes an empty folder for the temporary files of the tests of a checkout, in memory where
// there is enough of it. Its path is the same for every run; what an earlier run left there is removed.
// The caller removes the folder.
func TempDir(checkout string) (string, error) {
	sum := sha256.Sum256([]byte(checkout))
	folder := filepath.Join(cmp.Or(memory(), os.TempDir()), "perennial-tests-"+hex.EncodeToString(sum[:4]))
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	return folder, os.Mkdir(folder, 0o700)
}

// settings are for speed: the data need not survive a crash. The write-ahead log stays
// small, because it may be kept in memory.
var settings = []string{
	"fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
	"max_wal_size=96MB", "min_wal_size=32MB", "max_connections=400", "autovacuum=off", "shared_buffers=128MB", "listen_addresses=127.0.0.1", "unix_socket_directories=",
}

// durable are settings, after the others, with which what was committed outlives
// the server's crash, if not the machine's.
var durable = []string{"synchronous_commit=on", "full_page_writes=on"}

// Port is where the server of tests listens whose results Go keeps: Go does so by the server's
// address. It is below the ports that systems give to clients.
const Port = 25432

// Start starts a cluster at any free port. The caller stops it, or it ends with the process.
func Start(ctx context.Context) (*Cluster, error) { return start(ctx, 0, settings) }

// StartAt does the same at a port, or at any free one when the port is 0 or taken.
func StartAt(ctx context.Context, port int) (*Cluster, error) { return start(ctx, port, settings) }

// StartDurable starts a cluster that may crash and restart.
func StartDurable(ctx context.Context) (*Cluster, error) {
	return start(ctx, 0, slices.Concat(settings, durable))
}

func start(ctx context.Context, port int, settings []string) (*Cluster, error) {
	bin, err := binaries(ctx)
	if err != nil {
		return nil, err
	}
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(memory(), "perennial-postgres-")
	if err != nil {
		return nil, err
	}
	c, err := launch{folder, bin, who, port, settings}.start(ctx)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return c, nil
}

// launch is how a server is started.
type launch struct {
	folder   string // of its files
	bin      string // folder of its binaries
	who      *syscall.Credential
	port     int // 0: any free one
	settings []string
}

func (l launch) start(ctx context.Context) (*Cluster, error) {
	folder, bin, who := l.folder, l.bin, l.who
	if who != nil {
		if err := os.Chown(folder, int(who.Uid), int(who.Gid)); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(folder, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "postgres", "--auth", "trust",
		"--encoding", "UTF8", "--no-locale", "--no-sync")
	initdb.Dir = folder
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort(ctx, l.port)
	if err != nil {
		return nil, err
	}
	args := []string{"-c", guardScript, "guard", folder, filepath.Join(bin, "postgres"), "-D", data, "-p", strconv.Itoa(port)}
	for _, s := range l.settings {
		args = append(args, "-c", s)
	}
	// Not bound to ctx: the guard ends by its input.
	guard := exec.CommandContext(context.WithoutCancel(ctx), "/bin/sh", args...)
	guard.Dir = folder
	guard.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setsid: true}
	leash, err := guard.StdinPipe()
	if err != nil {
		return nil, err
	}
	heard, err := guard.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := guard.Start(); err != nil {
		return nil, fmt.Errorf("start PostgreSQL: %w", err)
	}
	c := &Cluster{
		URL: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port), guard: guard, leash: leash, heard: bufio.NewReader(heard),
	}
	if err := c.ready(ctx); err != nil {
		log, _ := os.ReadFile(filepath.Join(folder, "log"))
		return nil, errors.Join(fmt.Errorf("start PostgreSQL: %w\n%s", err, log), c.Stop())
	}
	return c, nil
}

// Crash ends the server as pg_ctl stop -m immediate does: every connection is cut,
// and what was under way is lost.
func (c *Cluster) Crash() error { return c.order(orderDown) }

// Restart starts a server that crashed, and returns when it answers.
func (c *Cluster) Restart(ctx context.Context) error {
	if err := c.order(orderUp); err != nil {
		return err
	}
	return c.ready(ctx)
}

// order has the guard do something and waits until it has.
func (c *Cluster) order(what string) error {
	if _, err := io.WriteString(c.leash, what+"\n"); err != nil {
		return fmt.Errorf("order the server %s: %w", what, err)
	}
	if done, err := c.heard.ReadString('\n'); err != nil || done != what+"\n" {
		return fmt.Errorf("order the server %s: it says %q: %w", what, done, err)
	}
	return nil
}

// Stop ends the server and removes its files.
func (c *Cluster) Stop() error {
	return errors.Join(c.leash.Close(), c.guard.Wait())
}

// startTime is how long a server may take until it answers.
const startTime = 30 * time.Second

func (c *Cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return err
		case <-retry.C:
		}
	}
}

// freePort returns a free port of the loopback address: the wanted one where that is free.
func freePort(ctx context.Context, wanted int) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", wanted))
	if err != nil {
		listener, err = config.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return 0, err
	}
	defer listener.Close() //nolint:errcheck // its port was all that was wanted
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// binaries returns the folder of the server's binaries: the newest that is found.
func binaries(ctx context.Context) (string, error) {
	var folders []string
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin"); err == nil {
		folders = append(folders, newestFirst(found)...)
	}
	folders = append(folders, filepath.SplitList(os.Getenv("PATH"))...)
	for _, folder := range folders {
		if executable(filepath.Join(folder, "initdb")) && executable(filepath.Join(folder, "postgres")) {
			return folder, nil
		}
	}
	return "", ErrNotInstalled
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir() && info.Mode()&0o111 != 0
}

// newestFirst sorts folders such as /usr/lib/postgresql/17/bin by their version.
func newestFirst(folders []string) []string {
	version := func(folder string) int {
		n, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err != nil {
			return 0
		}
		return n
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return folders
}

// unprivileged returns the user that the server runs as when this process is root, which
// the server refuses; otherwise nil.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root: create the user postgres")
}
