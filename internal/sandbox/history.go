package sandbox

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox/demo"
	"github.com/perennialhq/perennial/internal/web/dashboard/simulate"
)

// What happens in a history, for its figures to show something.
const (
	oneDeclinedIn = 4  // contracts has orders that are declined and then paid
	oneLeavesIn   = 60 // customers leaves in a month
)

// declinedCycles are the cycles of those contracts that are declined once.
var declinedCycles = []int{3, 7}

// checkHistory refuses a history that cannot be made.
func (o Options) checkHistory() error {
	if o.History == "" {
		return nil
	}
	if _, err := parseSpan(o.History); err != nil {
		return fmt.Errorf("--history: %w", err)
	}
	if o.WallClock || o.Empty {
		return fmt.Errorf("--history %s: it takes subscribers and a clock that can be moved; leave --empty and --wall-clock out", o.History)
	}
	return nil
}

// makeHistory lets time pass in a new sandbox, month by month: orders are charged, some are declined and
// paid later, customers leave and others subscribe. If the process ends meanwhile, the next one goes on.
func (s *Sandbox) makeHistory(ctx context.Context) error {
	if s.options.History == "" || s.begun() {
		return nil
	}
	length, err := parseSpan(s.options.History)
	if err != nil {
		return err
	}
	store, err := s.front.running().Store.Shops().ShopByDomain(ctx, demo.Main)
	if err != nil {
		return err
	}
	if err := s.declineSome(); err != nil {
		return err
	}
	for end := length.after(beginning()); s.clock.Now().Before(end); {
		s.report("History: it is %s, and goes on to %s.\n", s.clock.Now().Format(time.DateOnly), end.Format(time.DateOnly))
		err := s.steps.Advance(ctx, func(now time.Time) (time.Time, error) { return earlier(now.AddDate(0, 1, 0), end), nil })
		if err != nil {
			return err
		}
		if err := s.turnOver(ctx, store); err != nil {
			return err
		}
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// report writes a line for the person who started the sandbox.
func (s *Sandbox) report(format string, args ...any) {
	if s.options.Out != nil {
		fmt.Fprintf(s.options.Out, format, args...)
	}
}

// demoContracts lists the demo contracts of the main store, oldest first.
func (s *Sandbox) demoContracts() []int64 {
	var list []int64
	for _, c := range s.secrets.Cast.Customers {
		list = append(list, c.Contracts...)
	}
	slices.Sort(list)
	return list
}

// declineSome scripts the charges that are declined.
func (s *Sandbox) declineSome() error {
	for i, id := range s.demoContracts() {
		if i%oneDeclinedIn != oneDeclinedIn-1 {
			continue
		}
		if err := s.sim.Outcome(simulator.Outcome{Contract: id, Cycles: declinedCycles, Code: "INSUFFICIENT_FUNDS"}); err != nil {
			return err
		}
	}
	return nil
}

// turnOver has some customers leave and one more subscribe than leave.
func (s *Sandbox) turnOver(ctx context.Context, store shop.Shop) error {
	leave := 1 + len(s.demoContracts())/oneLeavesIn
	leaving, err := s.leavers(leave)
	if err != nil {
		return err
	}
	for _, c := range leaving {
		sc := scene{Sandbox: s, store: store, made: simulator.Made{Contract: c.ID, Customer: c.Customer.ID}}
		if err := sc.cancelBecause(ctx, leaveReasons[int(c.ID)%len(leaveReasons)]); err != nil {
			return fmt.Errorf("cancel contract %d: %w", c.ID, err)
		}
	}
	for n := range leave + 1 {
		newcomer := scenario{Scenario: simulate.Scenario{Name: fmt.Sprintf("newcomer.%d", n+1), Title: "Newcomer"}}
		spec, err := scene{Sandbox: s, store: store}.checkout(ctx, newcomer)
		if err != nil {
			return err
		}
		if _, err := s.sim.Checkout(spec); err != nil {
			return err
		}
	}
	return s.steps.Settle(ctx)
}

// leavers returns the oldest contracts that can be cancelled, at most so many. What the store shows on
// purpose stays: the showcase and the kinds.
func (s *Sandbox) leavers(most int) (list []simulator.Contract, err error) {
	ids, err := s.sim.Contracts(demo.Main)
	if err != nil {
		return nil, err
	}
	kinds := slices.Collect(maps.Values(s.secrets.Cast.Kinds))
	for _, id := range ids[min(len(ids), demo.ShowcaseSize()):] {
		if len(list) == most {
			break
		}
		c, err := s.sim.Contract(id)
		if err != nil {
			return nil, err
		}
		if c.Status == "ACTIVE" && c.Billing.Interval == "MONTH" && c.Billing.IntervalCount == 1 && !slices.Contains(kinds, id) {
			list = append(list, c)
		}
	}
	return list, nil
}

// leaveReasons are the answers of customers who leave.
var leaveReasons = []string{"Too expensive", "Too much left", "Moving away"}
