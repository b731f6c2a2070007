// Command soak does what takes longer than a check: the long tests, a long proof, every
// mutant, every day of every time zone. A run of all of it that succeeds writes the report
// docs/generated/soak.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s soak
	var only string
	flag.StringVar(&s.report, "report", "docs/generated/soak.md", "file for the report of a whole run")
	flag.IntVar(&s.renewals, "renewals", 100_000, "renewals of the proof")
	flag.StringVar(&only, "only", "", "parts to run, such as tests,proof; no report is written then")
	flag.Parse()
	if only != "" {
		s.only = strings.Split(only, ",")
	}
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak is one run.
type soak struct {
	report   string
	renewals int
	only     []string // names of parts; empty: all
}

// part is something that a soak does.
type part struct {
	name string
	what string
	// do returns the figures for the report, a table of Markdown.
	do func(ctx context.Context) (figures string, err error)
}

func (s *soak) parts() []part {
	return []part{
		{"tests", "The long tests: a year of the demo store, nodes that are killed, connections, databases and machines that fail.", longTests},
		{"pages", "Every page in a real browser, on PostgreSQL, with a thousand contracts moved by a merchant.", pages},
		{"race", "The race detector on all packages whose tests are quick enough for it.", race},
		{"proof", "The billing engine through simulated years under faults.", s.proof},
		{"calendar", "Every day of every time zone for forty years, at several order times.", calendar},
		{"oracle", "Signatures, tokens and names, judged by the platform's official library.", oracle},
		{"mutants", "Every guard taken out of the code, one at a time.", mutants},
	}
}

// done is a part that succeeded.
type done struct {
	part
	figures string
	took    time.Duration
}

// run does the parts that are wanted. One that fails does not keep the others from running, but
// no report is written then.
func (s *soak) run(ctx context.Context) error {
	for _, name := range s.only {
		if !slices.ContainsFunc(s.parts(), func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is no part %q: use tests, pages, race, proof, calendar, oracle or mutants", name)
		}
	}
	commit, err := commitOf(ctx) // before reports change the tree
	if err != nil {
		return err
	}
	began := clock.System{}.Now()
	var all []done
	var failed error
	for _, p := range s.parts() {
		if len(s.only) > 0 && !slices.Contains(s.only, p.name) {
			continue
		}
		fmt.Printf("\n=== %s: %s\n", p.name, p.what)
		at := clock.System{}.Now()
		figures, err := p.do(ctx)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name, err))
			fmt.Printf("=== %s: FAILED: %s\n", p.name, err)
			if ctx.Err() != nil {
				return failed
			}
			continue
		}
		took := clock.System{}.Now().Sub(at)
		fmt.Printf("=== %s: passed in %s\n", p.name, took.Round(time.Second))
		all = append(all, done{p, figures, took})
	}
	if failed != nil || len(s.only) > 0 {
		return failed
	}
	if err := os.WriteFile(s.report, []byte(reportOf(commit, began, all)), 0o644); err != nil { //nolint:gosec // a document
		return err
	}
	fmt.Printf("\nThe soak passed in %s; its report is %s\n", clock.System{}.Now().Sub(began).Round(time.Second), s.report)
	return nil
}

// reportOf writes the report of a run that began at an instant.
func reportOf(commit string, began time.Time, all []done) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Soak\n\nWritten by `make soak`, which passed: what takes longer than a check.\n\n| | |\n|---|---|\n| Commit | %s |\n| Date | %s |\n",
		commit, began.UTC().Format("2006-01-02 15:04 MST"))
	for _, d := range all {
		fmt.Fprintf(&b, "| Duration of %s | %s |\n", d.name, d.took.Round(time.Second))
	}
	for _, d := range all {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n%s", strings.ToUpper(d.name[:1])+d.name[1:], d.what, d.figures)
	}
	return b.String()
}
