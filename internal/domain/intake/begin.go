package intake

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	offers "github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// beginning is what a contract takes from the plan option it was bought on, and
// the platform does not know.
type beginning struct {
	trial    *contract.Trial
	lifelong bool
}

// planPatience is how long after a checkout its plan may become known. After a lost
// answer the platform is asked for a new plan every minute.
const planPatience = time.Hour

// beginnings returns how contracts begin that were bought in the store. Those that may
// be on a plan which is still being made wait, until the given instants.
func (s *Service) beginnings(ctx context.Context, store shop.Shop, bought []platform.Contract) (map[int64]beginning, waiting, error) {
	if len(bought) == 0 {
		return nil, nil, nil
	}
	cal, err := store.Calendar()
	if err != nil {
		return nil, nil, err
	}
	now := s.Clock.Now()
	contracts := make([]contract.Contract, len(bought))
	for i, p := range bought {
		if contracts[i], _, err = contract.Read(nil, p, store.Settings, now); err != nil {
			return nil, nil, err
		}
		contracts[i].NextBillingDate = p.NextBillingDate
	}
	options, made, err := s.options(ctx, store.ID, contracts)
	begun, waits := make(map[int64]beginning, len(options)), make(waiting)
	for _, c := range contracts {
		if o, ok := options[c.ID]; ok {
			begun[int64(c.ID)] = begin(c, o, cal)
		} else if onPlan(c) && !made.IsZero() && now.Before(c.CreatedAt.Add(planPatience)) {
			waits[c.ID] = slices.MaxFunc([]time.Time{made, now.Add(s.Policy.Yield)}, time.Time.Compare)
		}
	}
	return begun, waits, err
}

func onPlan(c contract.Contract) bool {
	return slices.ContainsFunc(c.Lines, func(l contract.Line) bool { return l.SellingPlanID != 0 })
}

// options returns the plan options that contracts are on, or came on before those were
// removed: of several that of the first line. It also returns when what becomes of
// plans is known that are being made; zero: none is.
func (s *Service) options(ctx context.Context, of shop.ID, contracts []contract.Contract) (map[contract.ID]offers.Option, time.Time, error) {
	var sold []int64
	for _, c := range contracts {
		for _, l := range c.Lines {
			if l.SellingPlanID != 0 {
				sold = append(sold, l.SellingPlanID)
			}
		}
	}
	if len(sold) == 0 {
		return nil, time.Time{}, nil
	}
	slices.Sort(sold)
	var groups map[int64]offers.Group
	var removed map[int64]offers.Option
	var made time.Time
	err := s.Store.Update(ctx, of, func(tx Tx) (err error) {
		// Asked for first: a plan that is ready a moment later is among the groups.
		if made, err = tx.PlansReadyAt(ctx); err != nil {
			return err
		}
		sold = slices.Compact(sold)
		if groups, err = tx.PlanGroups(ctx, sold); err != nil || len(groups) == len(sold) {
			return err
		}
		removed, err = tx.RemovedOptions(ctx, sold)
		return err
	})
	options := make(map[contract.ID]offers.Option, len(contracts))
	for _, c := range contracts {
		for _, l := range c.Lines {
			o, ok := groups[l.SellingPlanID].Option(l.SellingPlanID)
			if !ok {
				o, ok = removed[l.SellingPlanID]
			}
			if ok && l.SellingPlanID != 0 {
				options[c.ID] = o
				break
			}
		}
	}
	return options, made, err
}

// begin returns how a contract on an option begins: with a free trial, after which
// its first order is due, or with a payment for good.
//
// Without a word on the date the first order is due when the trial ends, or on the
// first fixed day after it whose cut-off has not passed. An option that keeps the
// date charges on the date that the contract would have without the trial, if the
// trial is over by then, and otherwise on the first one of its calendar that is
// not within the trial.
func begin(c contract.Contract, o offers.Option, cal cadence.Calendar) beginning {
	b := beginning{lifelong: o.Lifetime}
	if !o.Trial.Enabled {
		return b
	}
	b.trial = TrialOf(c, o, cal)
	return b
}

// TrialOf returns the free trial of a contract that begins on an option which has
// one.
func TrialOf(c contract.Contract, o offers.Option, cal cadence.Calendar) *contract.Trial {
	length := cadence.Policy{Interval: o.Trial.Interval, Count: o.Trial.Count}
	ends := cadence.Series{Policy: length, Calendar: cal, Start: c.CreatedAt}.Nth(1)
	t := contract.Trial{EndsAt: ends, ChargeAt: ends}
	switch {
	case o.Trial.KeepDate && !c.NextBillingDate.IsZero():
		usual := cadence.Series{Policy: c.Billing, Calendar: cal, Start: c.NextBillingDate}
		if t.ChargeAt = usual.Nth(0); t.ChargeAt.Before(ends) {
			t.ChargeAt = usual.Nth(usual.After(ends.Add(-1)))
		}
	case len(c.Billing.Anchors) > 0:
		t.ChargeAt, _ = anchored(c.Billing, o.Cutoff).First(cal, ends, cadence.Next)
	}
	return &t
}

// anchored returns the policy with the cut-off of its fixed days, in days, which
// the platform does not tell.
func anchored(p cadence.Policy, cutoff int) cadence.Policy {
	p.Anchors = slices.Clone(p.Anchors)
	for i := range p.Anchors {
		p.Anchors[i].Cutoff = cutoff
	}
	return p
}

// fixedDay returns when the next order is due of a contract whose calendar has
// changed to one of fixed days: on the first of them that is not before the order
// that waits. An order that is on a fixed day already stays; for another one it must
// not be too late by the option's cut-off, as it would be for a new order.
func fixedDay(p cadence.Policy, cutoff int, waits, now time.Time, cal cadence.Calendar) time.Time {
	day, _ := p.First(cal, waits, cadence.Next)
	if day.Before(waits) && !day.After(now) { // the order time of today has passed
		day, _ = p.First(cal, waits.Add(aDay), cadence.Next)
	}
	if day.Equal(cal.At(waits)) {
		return day
	}
	if open, _ := anchored(p, cutoff).First(cal, now, cadence.Next); open.After(day) {
		return open
	}
	return day
}

// anew returns the calendar of a contract that stands still and was given another
// interval: it goes on from the date of the order that would be next if the contract ran
// again now, or a fixed day after it. Dates that were given to other orders go.
func anew(c contract.Contract, was had, before contract.Policy, store shop.Shop, now time.Time) (plan, error) {
	cal, err := store.Calendar()
	if err != nil {
		return plan{}, err
	}
	was.ran.Billing = before
	was.leave(cal, now)
	follows := queue.Following(was.reached, was.from, was.skipped)
	next, passed, aside := follows, 0, was.aside(now)
	for runs := max(was.ran.ResumeCycle(now, cal), was.reached+1); next < runs || aside[next]; next++ {
		if !aside[next] {
			passed++
		}
	}
	start, over := was.ran.DueOn(next, cal), c.MaxCycles > 0 && next > c.MaxCycle()+passed
	for _, w := range was.ran.Overrides {
		sooner := w.Date.Before(start) || w.Date.Equal(start) && w.Cycle < next
		if w.Date.After(now) && (over || sooner) && !was.skipped[w.Cycle] {
			next, start, over = w.Cycle, w.Date, false
		}
	}
	date := start
	if len(c.Billing.Anchors) > 0 {
		date, _ = c.Billing.First(cal, start, cadence.Next)
	}
	p := plan{series: contract.Series{Cycle: next, Start: cal.At(date), Moved: c.Series.Moved}, jumped: was.jumped, stood: true}
	if next < follows {
		p.series = p.series.Before(follows)
	}
	for cycle := follows; cycle < next; cycle++ {
		if !was.skipped[cycle] {
			p.jumped++
		}
	}
	for _, w := range was.ran.Overrides {
		switch {
		case w.Date.IsZero():
		case w.Cycle == next:
			w.Date = date
		default:
			if w.Date = (time.Time{}); w.Cycle < follows && !was.skipped[w.Cycle] { // it never comes back
				p.jumped++
			}
		}
		if w != (contract.OrderOverride{Cycle: w.Cycle}) {
			p.wishes = append(p.wishes, w)
		}
	}
	return p, nil
}
