package prove

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/store"
)

// Report writes a proof for people. The command line and the commit say how to
// repeat it.
func (p *Proof) Report(to io.Writer, command, commit string, failure error) error {
	renewals, all := p.sum()
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	if p.Options.Moving {
		line("# Proof of moves\n")
	} else {
		line("# Proof of the billing engine\n")
	}
	if failure == nil {
		line("**It holds**: no cycle was charged twice, none was missed, none ended without a reason.\n")
	} else {
		line("**It does not hold**:\n\n```\n%s\n```\n", failure)
	}
	line("| | |\n|---|---|")
	row := func(name string, value any) { line("| %s | %v |", name, value) }
	row("Command", "`"+command+"`")
	row("Commit", commit)
	row("Seed", p.Options.Seed)
	row("Database", p.databaseName())
	row("Worlds", len(p.Worlds))
	row("Renewals (orders that the platform made)", renewals)
	row("Due cycles held against the oracle", all.due)
	row("Double", all.doubled)
	row("Missed", all.missed)
	row("Unexplained", all.unexplained)
	if p.Options.Moving {
		p.moves(row)
	}
	row("Faults", all.faults())
	row("Deaths of processes", all.deaths)
	row("Calls to the platform, webhooks, tasks (failed)", fmt.Sprintf("%d, %d, %d (%d)", all.calls, all.webhooks, all.tasksTaken, all.failed))
	row("Duration", p.Took.Round(time.Second))
	row("Renewals a second", fmt.Sprintf("%.0f", float64(renewals)/max(p.Took.Seconds(), 0.001)))
	row("Heap after the first world and after the last", fmt.Sprintf("%.1f MB, %.1f MB", float64(p.HeapFirst)/(1<<20), float64(p.HeapLast)/(1<<20)))
	row("Trace of the first world, and of its second run", fmt.Sprintf("%016x, %016x", p.firstTrace(), p.Again))
	line("\n## Invariants\n\n| # | Checks | How |\n|---|---|---|")
	for _, i := range p.invariants() {
		n := all.checks[i.Is]
		if i.Is == I12 && p.Again != 0 {
			n = 1
		}
		line("| %s | %d | %s |", i.Is, n, i.How)
	}
	if !p.Options.Moving {
		line("\nI9, of loyalty, is not part of this run.")
	}
	line("\n## Faults\n\n| Kind | On in worlds | Happened |\n|---|---|---|")
	for _, k := range p.kinds() {
		on := 0
		for _, l := range p.Worlds {
			if slices.Contains(l.On, k) {
				on++
			}
		}
		line("| %s | %d | %d |", k, on, all.counts[k])
	}
	if !p.Options.Moving {
		line("\n## What people did\n\n| Deed | Asked for | Done, and not refused or cut short |\n|---|---|---|")
		for _, d := range deeds {
			line("| %s | %d | %d |", d, all.asked[d], all.done[d])
		}
	}
	line("\n## Worlds\n\n| World | Nodes | Renewals | Due cycles | Faults | Deaths | Steps | Trace |\n|---|---|---|---|---|---|---|---|")
	for _, l := range p.Worlds {
		line("| %d | %d | %d | %d | %d | %d | %d | %016x |", l.Number, l.Nodes, l.Renewals, l.due, l.faults(), l.deaths, l.Steps, l.Trace)
	}
	if len(all.violations) > 0 {
		line("\n## Violations\n")
		for _, v := range all.violations[:min(len(all.violations), 50)] {
			line("- %s", v.Error())
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// moves reports what moves came to.
func (p *Proof) moves(row func(name string, value any)) {
	var all moveTally
	for _, l := range p.Worlds {
		all.moves, all.moved, all.requests, all.late = all.moves+l.moves, all.moved+l.moved, all.requests+l.requests, all.late+l.late
		all.latest = max(all.latest, l.latest)
	}
	row("Moves that came to their end", all.moves)
	row("Contracts that they moved", all.moved)
	row("Requests between the services", all.requests)
	row("Orders that a move made late, and the longest delay of all", fmt.Sprintf("%d, %s", all.late, all.latest.Round(time.Second)))
}

func (p *Proof) databaseName() string {
	if _, file, err := store.SQLitePath(p.Options.Database); err == nil && !file {
		return "PostgreSQL"
	}
	return "SQLite"
}

func (p *Proof) firstTrace() uint64 {
	if len(p.Worlds) == 0 {
		return 0
	}
	return p.Worlds[0].Trace
}
