package mover

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// grace is how long after its date an order of the other service is looked for.
const grace = 6 * time.Hour

// plan returns the next order of a contract as this service would charge it; the zero Order when
// none is to come.
func plan(c moving.Contract, cal cadence.Calendar) moving.Order {
	if c.Status != contract.Active || c.Next.IsZero() {
		return moving.Order{}
	}
	sold := c.Sold()
	amount := c.Amount(0, cal)
	if len(c.Upcoming) > 0 {
		for _, o := range c.Upcoming[0].OneOffs {
			sold = append(sold, moving.Sold{Variant: o.Variant, Quantity: o.Quantity})
			if o.Price.Currency == amount.Currency {
				amount = amount.Plus(o.Price.Times(int64(o.Quantity)))
			}
		}
	}
	return moving.Order{Date: c.Next, Amount: amount, Lines: moving.Sum(sold)}
}

// next returns the next order of a contract. That of a file's contract has an amount also when none is to come, as
// of a paused one, so that all contracts are in the totals.
func (w *worker) next(c moving.Contract) moving.Order {
	o := plan(c, w.cal)
	if w.move.File != nil && o.Date.IsZero() {
		o.Amount = c.Amount(0, w.cal)
	}
	return o
}

// shadow reads a contract that stays for now and compares the order that was planned with the one
// that was made there.
func (w *worker) shadow(ctx context.Context, i *moving.Item, now time.Time) ([]moving.Compared, error) {
	if w.move.File != nil {
		return nil, w.first(ctx, i, now)
	}
	before, planned := i.Contract, i.Plan
	if err := w.read(ctx, i); err != nil {
		return nil, err
	}
	list, waits := w.compare(before, planned, i.Contract, now)
	if waits {
		i.Plan = planned
	}
	for n := range list {
		list[n].Move, list[n].There = i.Move, i.There
	}
	if i.Fit == moving.Stays {
		return list, i.Enter(moving.Staying, now)
	}
	w.await(i, now)
	return list, nil
}

// await has a shadow looked at again once the order that is planned for it must have been made.
// No orders are made for those of a file.
func (w *worker) await(i *moving.Item, now time.Time) {
	i.DueAt = time.Time{}
	if date := i.Plan.Date; i.Stage == moving.Shadow && w.move.File == nil && !date.IsZero() {
		i.DueAt = later(date.Add(grace), now.Add(time.Hour))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// compare compares the orders that were made at the other service since the last reading with
// the planned one. It waits while the planned one has fallen due and may still be made there.
func (w *worker) compare(before moving.Contract, planned moving.Order, is moving.Contract, now time.Time) (list []moving.Compared, waits bool) {
	due := !planned.Date.IsZero() && !planned.Date.Add(grace).After(now)
	day := w.cal.Day(planned.Date)
	met := false
	for _, p := range slices.Backward(is.Past) {
		if slices.ContainsFunc(before.Past, func(o moving.Past) bool { return o.ID == p.ID && o.Status == p.Status }) {
			continue
		}
		if p.Status != moving.Paid {
			continue
		}
		if !met && (due || !planned.Date.IsZero() && w.cal.Day(p.Date) == day) {
			met = true
			list = append(list, w.matched(before, planned, is, p))
			continue
		}
		list = append(list, moving.Compared{
			Date: p.Date, Verdict: moving.Unplanned, Charged: p.Amount, Order: p.Order, Text: "It was made there and was not planned here.",
		})
	}
	if due && !met {
		list = append(list, w.unmatched(planned, before, is))
	}
	return list, !met && !due && !planned.Date.IsZero() && !planned.Date.After(now)
}

// matched compares a planned order with the one that was made.
func (w *worker) matched(before moving.Contract, planned moving.Order, is moving.Contract, p moving.Past) moving.Compared {
	c := moving.Compared{Date: planned.Date, Verdict: moving.Same, Planned: planned.Amount, Charged: p.Amount, Order: p.Order}
	changed := is.UpdatedAt.After(before.UpdatedAt) && differs(before, is)
	day, made := w.cal.Day(planned.Date), w.cal.Day(p.Date)
	switch {
	case len(p.Lines) > 0 && !slices.Equal(moving.Sum(p.Lines), planned.Lines):
		c.Verdict, c.Text = moving.Unexplained, "The order has other products than planned."
	case p.Amount.Currency != "" && p.Amount != planned.Amount:
		c.Verdict, c.Text = moving.Unexplained, fmt.Sprintf("The order cost %s and %s was planned.", p.Amount, planned.Amount)
		if more := p.Amount.Minor - planned.Amount.Minor; more > 0 && more*100 <= planned.Amount.Minor*mostTaxes {
			c.Verdict, c.Text = moving.Taxes, fmt.Sprintf("The order cost %s more, which may be taxes or a shipping rate.", money.Amount{Minor: more, Currency: p.Amount.Currency})
		}
	case made != day:
		c.Verdict, c.Text = moving.Late, fmt.Sprintf("It was made for %s and was planned for %s.", made, day)
	}
	if changed && c.Verdict != moving.Same && c.Verdict != moving.Taxes {
		c.Verdict = moving.ChangedAt
		c.Text += " The contract was changed there meanwhile."
	}
	return c
}

// mostTaxes is the highest part of an amount, in percent, that taxes and shipping may add.
const mostTaxes = 30

// unmatched says why a planned order was not made.
func (w *worker) unmatched(planned moving.Order, before, is moving.Contract) moving.Compared {
	c := moving.Compared{Date: planned.Date, Verdict: moving.Missing, Planned: planned.Amount, Text: "It was not made there."}
	day := w.cal.Day(planned.Date)
	for _, p := range is.Past {
		if w.cal.Day(p.Date) != day {
			continue
		}
		switch p.Status {
		case moving.Paid: // it was known already when it was planned
			c.Verdict, c.Charged, c.Order, c.Text = moving.Same, p.Amount, p.Order, ""
			return c
		case moving.Skipped:
			c.Verdict, c.Text = moving.SkippedThey, "It was skipped there."
			return c
		case moving.Declined:
			c.Verdict, c.Text = moving.DeclinedBy, "The charge was declined there."
			return c
		}
	}
	switch {
	case is.Status != before.Status:
		c.Verdict, c.Text = moving.StoppedAt, fmt.Sprintf("The contract became %s there.", is.Status)
	case !is.Next.IsZero() && is.Next.After(planned.Date) && is.UpdatedAt.After(before.UpdatedAt):
		c.Verdict, c.Text = moving.ChangedAt, fmt.Sprintf("The order was moved there to %s.", w.cal.Day(is.Next))
	}
	return c
}

// differs reports whether two readings of a contract differ in what its orders depend on.
func differs(a, b moving.Contract) bool {
	return a.Status != b.Status || !slices.Equal(a.Sold(), b.Sold()) || a.DeliveryPrice != b.DeliveryPrice || len(a.Discounts) != len(b.Discounts) ||
		a.Billing.Interval != b.Billing.Interval || a.Billing.Count != b.Billing.Count ||
		!slices.EqualFunc(a.Lines, b.Lines, func(x, y moving.Line) bool { return x.Price == y.Price })
}
