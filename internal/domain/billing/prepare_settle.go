package billing

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// settlePrepared writes how far orders have been prepared. An attempt that
// somebody else has changed meanwhile is looked at anew.
func (s *Service) settlePrepared(ctx context.Context, asked shop.Shop, list []prepared) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]AttemptID, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	return s.inLedger(ctx, asked.ID, ids, func(tx Tx, l *settlement) error {
		l.asked = asked.Token
		for _, p := range list {
			a := l.attempts[p.ID]
			switch {
			case a == nil || p.late:
			case a.Version != p.Version:
				if a.DueAt.Equal(p.DueAt) { // nobody else acts on it
					a.DueAt = l.now
					l.changed = append(l.changed, a.ID)
				}
			default:
				l.changed = append(l.changed, a.ID)
				if err := l.prepare(ctx, tx, a, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// prepare notes what one step came to.
func (l *settlement) prepare(ctx context.Context, tx Tx, a *Attempt, p prepared) error {
	planned, done := OrderPlanned, Ready
	if p.lasts {
		planned, done = ContractPlanned, ContractDone
	}
	if p.dropped {
		if err := l.republish(ctx, tx, *a); err != nil {
			return err
		}
	}
	if err := l.answered(ctx, tx, p); err != nil {
		return err
	}
	a.DueAt = l.now
	switch {
	case p.err != nil:
		l.doubt(a, p, done)
		return nil //nolint:nilerr // it is written down, and tried again
	case p.refused != nil && p.refused.Code == platform.CodeStale && a.Prep.Edits < maxEdits:
		a.Prep.Edits++
		a.DueAt = l.now.Add(l.policy.Throttled)
		return nil //nolint:nilerr // it is tried again
	case p.refused != nil:
		l.unprepared(a, p, p.refused.Error())
		a.leave(p, done)
		return nil //nolint:nilerr // it is written down, and the order goes on without the change
	case p.commit:
		if a.Prep.Stage == planned { // things changed between the plan and the change
			a.Prep.Edits++
		}
		a.Prep.Stage, a.Prep.Plan, a.Prep.Revision = planned, p.plan, p.since
		if !p.lasts {
			a.Prep.Edited = true
		}
		if a.Prep.Edits > maxEdits {
			l.unprepared(a, p, "it changes faster than it can be prepared")
			a.leave(p, done)
		}
		return nil
	}
	a.Prep = a.Prep.at(done, a.Prep.Edited, p.since)
	if done == Ready {
		a.readyFor(p)
		a.Prep.Contract = fingerprintOf(l.contracts[a.Contract].Lines)
	}
	for _, r := range p.missing {
		l.note(*a, activity.SwapAutomationTriggered, activity.Failure, outcome{
			Cycle: a.Cycle, Rule: int64(r.ID), RuleName: r.Name, Reason: "a product of the rule is no longer sold",
		})
	}
	if p.plan == nil {
		return nil
	}
	for _, c := range p.plan.Prices {
		l.note(*a, activity.ProductPriceChange, activity.Success, outcome{Cycle: a.Cycle, Variant: c.Variant, From: c.From, To: c.To})
	}
	var uses []SwapUse
	shift := p.plan.Shift
	for _, c := range p.plan.Changes {
		if !p.lasts && slices.Contains(a.Prep.Swapped, c.Rule) { // the order was prepared before
			shift -= c.Shift
			continue
		}
		if !p.lasts {
			a.Prep.Swapped = append(slices.Clone(a.Prep.Swapped), c.Rule)
		}
		l.swapped(*a, c, p.lasts)
		if c.Once {
			uses = append(uses, SwapUse{Rule: c.Rule, Contract: a.Contract})
		}
	}
	if err := tx.AddSwapUses(ctx, uses); err != nil {
		return err
	}
	return l.shift(ctx, tx, *a, shift)
}

// doubt puts a step off that came to no end. A change that never comes to an end
// must not keep the order from being charged for ever, and neither must a
// platform that answers everything else.
func (l *settlement) doubt(a *Attempt, p prepared, done Stage) {
	if errors.Is(p.err, platform.ErrThrottled) {
		a.DueAt = l.now.Add(l.policy.Throttled)
		return
	}
	if errors.Is(p.err, platform.ErrDisconnected) {
		l.gone = true
	}
	if a.Prep.Since.IsZero() {
		a.Prep.Since = l.now
	}
	a.Prep.Failures++
	if p.editing {
		a.Prep.Edits++
	}
	if a.Prep.Edits >= maxEdits || l.now.Sub(a.Prep.Since) >= l.policy.Horizon {
		l.unprepared(a, p, "the platform has not confirmed the change")
		a.leave(p, done)
		return
	}
	a.DueAt = l.now.Add(l.policy.Repair)
	if a.Prep.Failures <= len(l.policy.Retries) {
		a.DueAt = l.now.Add(l.policy.Retries[a.Prep.Failures-1])
	}
}

// leave gives a step up. The order goes on as it was read last.
func (a *Attempt) leave(p prepared, done Stage) {
	edited := p.Prep.Edited || p.Prep.Stage == OrderPlanned
	a.Prep = a.Prep.at(done, edited, p.since)
	a.Prep.NoteLeft = !p.lasts && p.Note != ""
	if done == Ready {
		a.readyFor(p)
	}
}

// readyFor notes what the order has and for which state of the contract that is, for
// which it is not prepared again.
func (a *Attempt) readyFor(p prepared) {
	a.Lines = p.lines
	a.Prep.Revision, a.Prep.Order = max(p.since, p.contract.Revision), p.contract.NextOrder()
}

// unprepared says that an order goes on without a change, and without which.
func (l *settlement) unprepared(a *Attempt, p prepared, reason string) {
	told := false
	if p.plan != nil {
		for _, c := range p.plan.Changes {
			told = true
			l.note(*a, activity.SwapAutomationTriggered, activity.Failure, outcome{Cycle: a.Cycle, Rule: int64(c.Rule), RuleName: c.Name, Reason: reason})
		}
	}
	if p.lasts {
		if !told {
			l.note(*a, activity.SwapAutomationTriggered, activity.Failure, outcome{Cycle: a.Cycle, Reason: reason})
		}
		return
	}
	for _, o := range p.oneOffs {
		told = true
		l.note(*a, activity.OneTimePurchaseProductAdded, activity.Failure, outcome{Cycle: a.Cycle, Variant: o.Variant.ID, Quantity: o.Quantity, Reason: reason})
	}
	if !told || p.Note != "" {
		l.note(*a, activity.UpcomingOrderUpdated, activity.Failure, outcome{Cycle: a.Cycle, Reason: reason})
	}
}

// swapped writes the entries of a rule that was applied.
func (l *settlement) swapped(a Attempt, c Change, lasts bool) {
	of := activity.Entry{EntityID: int64(a.ID), EntityType: activity.EntitySubscriptionBillingAttempt, Status: activity.Success, Actor: activity.System, At: l.now}
	if lasts {
		of.EntityID, of.EntityType = int64(a.Contract), activity.EntitySubscriptionContractDetails
	}
	triggered, replaced := of, of
	triggered.Event = activity.SwapAutomationTriggered
	triggered.Info = activity.Details(outcome{Cycle: a.Cycle, Rule: int64(c.Rule), RuleName: c.Name})
	replaced.Event = activity.ProductReplace
	replaced.Info = activity.Details(outcome{Cycle: a.Cycle, Rule: int64(c.Rule), Removed: c.Removed, Added: c.Added})
	l.entries = append(l.entries, triggered, replaced)
}

// republish lets the cycles be told anew that lost what they held of ours when
// the contract was changed.
func (l *settlement) republish(ctx context.Context, tx Tx, but Attempt) error {
	queued, err := tx.AttemptsOf(ctx, []contract.ID{but.Contract}, Queued)
	if err != nil {
		return err
	}
	queued = slices.DeleteFunc(queued, func(a Attempt) bool { return a.ID == but.ID || !a.Prep.Edited || l.attempts[a.ID] != nil })
	for i := range queued {
		queued[i].tellOneOffs(l.now)
		queued[i].UpdatedAt = l.now
	}
	return tx.PutAttempts(ctx, queued)
}

// shift moves the order that is made after the attempt's by days, and the contract's
// calendar with it.
func (l *settlement) shift(ctx context.Context, tx Tx, a Attempt, days int) error {
	if days == 0 {
		return nil
	}
	cal, err := l.shop.Calendar()
	if err != nil {
		return err
	}
	there, err := tx.AttemptsOf(ctx, []contract.ID{a.Contract})
	if err != nil {
		return err
	}
	at := nextQueued(there, a)
	if at < 0 {
		return nil
	}
	following := there[at]
	before := following.BillingDate
	date := shifted(l.contracts[a.Contract], following, days, later(a.BillingDate, l.now), max(reached(there, l.now), a.Cycle), cal)
	following.BillingDate, following.DueAt, following.PublishAt, following.UpdatedAt = date, date, l.now, l.now
	if taken := l.attempts[following.ID]; taken != nil { // it is in this batch too, and written with it
		taken.BillingDate, taken.DueAt, taken.PublishAt = date, date, l.now
		l.changed = append(l.changed, taken.ID)
	} else if err := tx.PutAttempts(ctx, []Attempt{following}); err != nil {
		return err
	}
	l.restarted = append(l.restarted, a.Contract)
	l.advanced = append(l.advanced, a.Contract)
	l.note(following, activity.NextBillingDateChange, activity.Success, outcome{
		Cycle: following.Cycle, From: before.Format(time.RFC3339), To: date.Format(time.RFC3339), Reason: "a product swap moves the next order",
	})
	return nil
}

// shifted moves the calendar of a contract by days with an order that follows one of an
// instant, and returns that order's date. It never falls on the day of the one before or
// sooner: where there are fewer days until then, it and the calendar move back by those.
// Cycles until made were made.
func shifted(c *contract.Contract, following Attempt, days int, previous time.Time, made int, cal cadence.Calendar) time.Time {
	date := cal.At(following.BillingDate.In(cal.Zone).AddDate(0, 0, days))
	if soonest := cal.At(previous.In(cal.Zone).AddDate(0, 0, 1)); date.Before(soonest) {
		if date = soonest; days < 0 {
			days = min(0, cal.Days(following.BillingDate, soonest))
		}
	}
	series := contract.Series{Cycle: following.Cycle, Start: date, Moved: true}
	if goesOn := c.SeriesOf(max(made, following.Cycle) + 1); following.Cycle < c.Series.Cycle || following.Cycle < goesOn.Cycle && goesOn.Passed > 0 {
		// It waits behind orders that were made: those after it are counted elsewhere.
		series = goesOn
		series.Start, series.Moved = cal.At(goesOn.Start.In(cal.Zone).AddDate(0, 0, days)), true
	} else if following.Moved { // a person chose its date: those after it are counted from the calendar's
		series.Start = cal.At(c.DueOn(following.Cycle, cal).In(cal.Zone).AddDate(0, 0, days))
	}
	c.ReplaceSeries(series)
	return date
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
