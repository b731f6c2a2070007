// Command soak does what takes longer than a check: the long tests, a long proof, every
// mutant, every day of every time zone. A part that passes writes its section of the report
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
	flag.StringVar(&s.report, "report", "docs/generated/soak.md", "file of the report")
	flag.IntVar(&s.renewals, "renewals", 100_000, "renewals of the proof")
	flag.StringVar(&only, "only", "", "parts to run, such as tests,proof")
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
		{"moving", "Contracts that move between two services, in simulated years under faults.", s.movingProof},
		{"calendar", "Every day of every time zone for forty years, at several order times.", calendar},
		{"oracle", "Signatures, tokens and names, judged by the platform's official library.", oracle},
		{"mutants", "Every guard taken out of the code, one at a time.", mutants},
	}
}

// title is the heading of the part's section in the report.
func (p part) title() string { return strings.ToUpper(p.name[:1]) + p.name[1:] }

// done is a part that passed.
type done struct {
	part
	figures string
	commit  string
	at      time.Time
	took    time.Duration
}

// run does the parts that are wanted. One that fails does not keep the others from running.
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
		if err := s.write(done{p, figures, commit, at, took}); err != nil {
			return err
		}
	}
	if failed != nil {
		return failed
	}
	fmt.Printf("\nThe soak passed in %s; its report is %s\n", clock.System{}.Now().Sub(began).Round(time.Second), s.report)
	return nil
}

const reportHead = "# Soak\n\nWritten by `make soak`: what takes longer than a check. A part that passes replaces its section.\n"

// write writes the section of a part into the report, and keeps those of the others.
func (s *soak) write(d done) error {
	before, err := os.ReadFile(s.report)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	kept := map[string]string{}
	for section := range strings.SplitSeq(string(before), "\n## ") {
		title, text, _ := strings.Cut(section, "\n")
		kept[title] = strings.TrimRight(text, "\n") + "\n"
	}
	kept[d.title()] = fmt.Sprintf("\n%s\n\nPassed on %s UTC in %s, on commit %s.\n\n%s", d.what, d.at.UTC().Format("2006-01-02 15:04"), d.took.Round(time.Second), d.commit, d.figures)
	text := reportHead
	for _, p := range s.parts() {
		if section, is := kept[p.title()]; is {
			text += "\n## " + p.title() + "\n" + section
		}
	}
	return os.WriteFile(s.report, []byte(text), 0o644) //nolint:gosec // a document
}
