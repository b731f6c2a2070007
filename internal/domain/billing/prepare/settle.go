package prepare

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/queue"
	"github.com/perennialhq/perennial/internal/domain/billing/settlement"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
)

// settling is the unit of work of prepared orders.
type settling struct{ *settlement.Unit }

// settle writes how far orders have been prepared. An attempt that has changed since then
// falls due at once.
func (s *Service) settle(ctx context.Context, asked shop.Shop, list []prepared) error {
	if len(list) == 0 {
		return nil
	}
	ids := make([]billing.AttemptID, len(list))
	for i, p := range list {
		ids[i] = p.ID
	}
	return settlement.Update(ctx, s.Env, asked.ID, ids, func(tx billing.Tx, u *settlement.Unit) error {
		l := &settling{u}
		l.AskedWith = asked.Token
		for _, p := range list {
			a := l.Attempts[p.ID]
			switch {
			case a == nil || p.late:
			case a.Version != p.Version:
				if a.DueAt.Equal(p.DueAt) { // no other worker acts on it
					a.DueAt = l.Now
					l.Changed = append(l.Changed, a.ID)
				}
			default:
				l.Changed = append(l.Changed, a.ID)
				if err := l.prepare(ctx, tx, a, p); err != nil {
					return err
				}
			}
		}
		return l.Close(ctx, tx)
	})
}

// prepare records the result of one step.
func (l *settling) prepare(ctx context.Context, tx billing.Tx, a *billing.Attempt, p prepared) error {
	planned, done := billing.OrderPlanned, billing.Ready
	if p.lasts {
		planned, done = billing.ContractPlanned, billing.ContractDone
	}
	if p.dropped {
		if err := l.republish(ctx, tx, *a); err != nil {
			return err
		}
	}
	if err := l.answered(ctx, tx, p); err != nil {
		return err
	}
	if err := tx.KeepSold(ctx, p.asked, p.sold); err != nil {
		return err
	}
	a.DueAt = l.Now
	switch {
	case p.err != nil:
		l.doubt(a, p, done)
		return nil //nolint:nilerr // it is written down, and tried again
	case p.refused != nil && p.refused.Code == platform.CodeStale && a.Prep.Edits < maxEdits:
		a.Prep.Edits++
		a.DueAt = l.Now.Add(l.Policy.Throttled)
		return nil //nolint:nilerr // it is tried again
	case p.refused != nil:
		l.unprepared(a, p, p.refused.Error())
		giveUpStep(a, p, done)
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
			giveUpStep(a, p, done)
		}
		return nil
	}
	a.Prep = a.Prep.At(done, a.Prep.Edited, p.since)
	if done == billing.Ready {
		readyFor(a, p)
		a.Prep.Contract = billing.FingerprintOf(l.Contracts[a.Contract].Lines)
	}
	for _, r := range p.missing {
		l.Note(*a, activity.SwapAutomationTriggered, activity.Failure, billing.EntryInfo{
			Cycle: a.Cycle, Rule: int64(r.ID), RuleName: r.Name, Reason: "a product of the rule is no longer sold",
		})
	}
	if p.plan == nil {
		return nil
	}
	for _, c := range p.plan.Prices {
		l.Note(*a, activity.ProductPriceChange, activity.Success, billing.EntryInfo{Cycle: a.Cycle, Variant: c.Variant, From: c.From, To: c.To})
	}
	l.boxPriced(*a, p.plan.Box)
	var uses []billing.SwapUse
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
			uses = append(uses, billing.SwapUse{Rule: c.Rule, Contract: a.Contract})
		}
	}
	if err := tx.AddSwapUses(ctx, uses); err != nil {
		return err
	}
	return l.shift(ctx, tx, *a, shift)
}

// doubt postpones a step without a confirmed outcome. Neither a change that is never confirmed nor a
// platform that answers everything else may keep the order from being charged for ever.
func (l *settling) doubt(a *billing.Attempt, p prepared, done billing.Stage) {
	if errors.Is(p.err, platform.ErrThrottled) {
		a.DueAt = l.Now.Add(l.Policy.Throttled)
		return
	}
	if errors.Is(p.err, platform.ErrDisconnected) {
		l.Disconnected = true
	}
	if a.Prep.Since.IsZero() {
		a.Prep.Since = l.Now
	}
	a.Prep.Failures++
	if p.editing {
		a.Prep.Edits++
	}
	if a.Prep.Edits >= maxEdits || l.Now.Sub(a.Prep.Since) >= l.Policy.Horizon {
		l.unprepared(a, p, "the platform has not confirmed the change")
		giveUpStep(a, p, done)
		return
	}
	a.DueAt = l.Now.Add(l.Policy.Repair)
	if a.Prep.Failures <= len(l.Policy.Retries) {
		a.DueAt = l.Now.Add(l.Policy.Retries[a.Prep.Failures-1])
	}
}

// giveUpStep gives a step up. The order is charged as it was read last.
func giveUpStep(a *billing.Attempt, p prepared, done billing.Stage) {
	edited := p.Prep.Edited || p.Prep.Stage == billing.OrderPlanned
	a.Prep = a.Prep.At(done, edited, p.since)
	a.Prep.NoteLeft = !p.lasts && p.Note != ""
	if done == billing.Ready {
		readyFor(a, p)
	}
}

// readyFor notes what the order has and for which state of the contract that is, for
// which it is not prepared again.
func readyFor(a *billing.Attempt, p prepared) {
	a.Lines, a.Prep.Box = p.lines, p.off
	a.Prep.Revision, a.Prep.Order = max(p.since, p.Of.Revision), p.Of.NextOrder()
}

// unprepared records that an order is charged without a change, and without which.
func (l *settling) unprepared(a *billing.Attempt, p prepared, reason string) {
	told := false
	if p.plan != nil {
		for _, c := range p.plan.Changes {
			told = true
			l.Note(*a, activity.SwapAutomationTriggered, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Rule: int64(c.Rule), RuleName: c.Name, Reason: reason})
		}
	}
	if p.lasts {
		if !told {
			l.Note(*a, activity.SwapAutomationTriggered, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
		}
		return
	}
	for _, o := range p.OneOffs {
		told = true
		l.Note(*a, activity.OneTimePurchaseProductAdded, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Variant: o.Variant.ID, Quantity: o.Quantity, Reason: reason})
	}
	if !told || p.Note != "" {
		l.Note(*a, activity.UpcomingOrderUpdated, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
	}
}

// swapped writes the entries of a rule that was applied.
func (l *settling) swapped(a billing.Attempt, c billing.Change, lasts bool) {
	of := activity.Entry{EntityID: int64(a.ID), EntityType: activity.EntitySubscriptionBillingAttempt, Status: activity.Success, Actor: activity.System, At: l.Now}
	if lasts {
		of.EntityID, of.EntityType = int64(a.Contract), activity.EntitySubscriptionContractDetails
	}
	triggered, replaced := of, of
	triggered.Event = activity.SwapAutomationTriggered
	triggered.Info = activity.Details(billing.EntryInfo{Cycle: a.Cycle, Rule: int64(c.Rule), RuleName: c.Name})
	replaced.Event = activity.ProductReplace
	replaced.Info = activity.Details(billing.EntryInfo{Cycle: a.Cycle, Rule: int64(c.Rule), Silent: c.Silent, Removed: c.Removed, Added: c.Added})
	l.Entries = append(l.Entries, triggered, replaced)
}

// boxPriced writes the entries of a new discount of the order's box.
func (l *settling) boxPriced(a billing.Attempt, change *billing.BoxChange) {
	if change == nil {
		return
	}
	info := billing.EntryInfo{Cycle: a.Cycle, From: change.From, To: change.To, Reason: change.Title}
	for _, event := range change.Events() {
		l.Note(a, event, activity.Success, info)
	}
}

// republish publishes the cycles again that lost our edits when the contract was changed.
func (l *settling) republish(ctx context.Context, tx billing.Tx, but billing.Attempt) error {
	queued, err := tx.AttemptsOf(ctx, []contract.ID{but.Contract}, billing.Queued)
	if err != nil {
		return err
	}
	queued = slices.DeleteFunc(queued, func(a billing.Attempt) bool { return a.ID == but.ID || !a.Prep.Edited || l.Attempts[a.ID] != nil })
	for i := range queued {
		queued[i].PublishOneOffs(l.Now)
		queued[i].UpdatedAt = l.Now
	}
	return tx.PutAttempts(ctx, queued)
}

// shift moves the order that is made after the attempt's by days, and the contract's
// calendar with it.
func (l *settling) shift(ctx context.Context, tx billing.Tx, a billing.Attempt, days int) error {
	if days == 0 {
		return nil
	}
	cal, err := l.Shop.Calendar()
	if err != nil {
		return err
	}
	there, err := tx.AttemptsOf(ctx, []contract.ID{a.Contract})
	if err != nil {
		return err
	}
	at := queue.NextQueued(there, a)
	if at < 0 {
		return nil
	}
	following := there[at]
	before := following.BillingDate
	date := queue.Shift(l.Contracts[a.Contract], following, days, billing.Later(a.BillingDate, l.Now), max(queue.LastMade(there, l.Now), a.Cycle), cal)
	following.BillingDate, following.DueAt, following.PublishAt, following.UpdatedAt = date, date, l.Now, l.Now
	if taken := l.Attempts[following.ID]; taken != nil { // it is in this batch too, and written with it
		taken.BillingDate, taken.DueAt, taken.PublishAt = date, date, l.Now
		l.Changed = append(l.Changed, taken.ID)
	} else if err := tx.PutAttempts(ctx, []billing.Attempt{following}); err != nil {
		return err
	}
	l.Redate = append(l.Redate, a.Contract)
	l.Refill = append(l.Refill, a.Contract)
	l.Note(following, activity.NextBillingDateChange, activity.Success, billing.EntryInfo{
		Cycle: following.Cycle, From: before.Format(time.RFC3339), To: date.Format(time.RFC3339), Reason: "a product swap moves the next order",
	})
	return nil
}
