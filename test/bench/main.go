// Command bench measures the service against limits that are measured in the same
// run, so that the ratios mean something on any machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	_ "time/tzdata" // zones must not depend on the machine
)

const header = `# Rates depend on the machine; each ratio compares with a limit that was measured beside it and means
# the same everywhere. %d processors, shared by the service, the simulated platform, the database and this
# program. A PostgreSQL that was started for tests does not wait for its disk; SQLite does, in all lines.
`

// settings say what is measured, and how much.
type settings struct {
	out         io.Writer
	postgres    string // server on which databases are made
	folder      string
	databases   []string
	renewals    []int
	contracts   int     // of search and read
	large       int     // contracts of the large store of search, on PostgreSQL
	stored      int     // attempts of the larger due_scan
	syncs       int     // contracts of a first sync
	syncRestore float64 // points a second of its store
	bulk        int     // contracts that a bulk action changes
	messages    int     // e-mails that are written, and webhooks that are sent
	files       int     // contracts of a CSV file
	moves       int     // contracts that move from one service to another
	dashboard   int     // contracts of the store whose pages are opened
	cpuProfile  string
}

// bench is one thing that is measured.
type bench struct {
	name string
	run  func(ctx context.Context, s settings) error
}

func benches() []bench {
	return []bench{
		{"renewals", renewals}, {"budget", budget}, {"search", search}, {"due_scan", dueScan}, {"read", read}, {"sync", firstSync}, {"bulk", bulkJobs}, {"dashboard", pages}, {"messages", messages}, {"files", files}, {"moves", moves},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	args := os.Args[1:]
	run := measure
	if len(args) > 0 && args[0] == "simulator" {
		run, args = simulate, args[1:]
	}
	if err := run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measure runs the benches that the arguments name, or all of them.
func measure(ctx context.Context, args []string) (err error) {
	s := settings{out: os.Stdout, postgres: os.Getenv("PERENNIAL_TEST_POSTGRES")}
	var databases, counts string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&databases, "db", "postgres,sqlite", "databases to measure on")
	flags.StringVar(&counts, "renewals", "1000,20000", "how many contracts are renewed at once, in runs of their own")
	flags.IntVar(&s.contracts, "contracts", 100_000, "contracts of the searched store")
	flags.IntVar(&s.large, "large", 1_000_000, "contracts of a larger searched store, on PostgreSQL only; 0: none")
	flags.IntVar(&s.stored, "stored", 1_000_000, "attempts stored for the larger due_scan; the smaller has a tenth")
	flags.IntVar(&s.syncs, "sync", 100_000, "contracts that a first sync reads")
	flags.Float64Var(&s.syncRestore, "sync-restore", 1000, "points that come back in a second to the store of a first sync")
	flags.IntVar(&s.bulk, "bulk", 1000, "contracts that a bulk action changes, and as many one by one; at most 5000")
	flags.IntVar(&s.dashboard, "dashboard", 1_000_000, "contracts of the store whose pages are opened; filling it takes about a second for a thousand")
	flags.IntVar(&s.messages, "messages", 10_000, "e-mails that are written, and webhooks that are sent")
	flags.IntVar(&s.files, "files", 100_000, "contracts of a CSV file that is read to its dry-run report")
	flags.IntVar(&s.moves, "moves", 1000, "contracts that move from one service to another")
	flags.StringVar(&s.cpuProfile, "cpuprofile", "", "run the service of renewals in this process and write its profile to `FILE`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, text := range strings.Split(counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("-renewals: %w", err)
		}
		s.renewals = append(s.renewals, n)
	}
	s.databases = strings.Split(databases, ",")
	if slices.Contains(s.databases, "postgres") && s.postgres == "" {
		return errors.New("name a PostgreSQL server in PERENNIAL_TEST_POSTGRES, as make bench does, or say -db sqlite")
	}
	if s.folder, err = os.MkdirTemp("", "perennial-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.folder)) }()
	fmt.Fprintf(s.out, header, runtime.NumCPU())
	for _, name := range flags.Args() {
		if !slices.ContainsFunc(benches(), func(b bench) bool { return b.name == name }) {
			return fmt.Errorf("there is no bench %q", name)
		}
	}
	for _, b := range benches() {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), b.name) {
			continue
		}
		if err := b.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}

// print writes one line of results.
func (s settings) print(format string, args ...any) {
	fmt.Fprintf(s.out, "BENCH "+format+"\n", args...)
}
