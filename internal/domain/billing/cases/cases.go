// Package cases opens, advances and closes the cases of orders whose charges were declined:
// it records what package dunning computes, sends the customer e-mails, and ends cases when
// a contract ends or a remedy comes.
package cases

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/decide"
	"github.com/perennialhq/perennial/internal/domain/billing/settlement"
	"github.com/perennialhq/perennial/internal/domain/dunning"
)

// Cases changes the cases of the attempts in a unit of work.
type Cases struct {
	*settlement.Unit
	superseded []billing.AttemptID // unpaid orders older than one that is now paid
}

// lastTried returns when the last try began.
func lastTried(a billing.Attempt) time.Time {
	if a.SentAt.IsZero() {
		return a.AttemptedAt
	}
	return a.SentAt
}

// Decline opens or continues the case of an attempt whose charge was just declined. A
// contract has one open case: while it has an unpaid order, its other orders have no case.
func (l *Cases) Decline(a *billing.Attempt, code string) error {
	c := l.Contracts[a.Contract]
	class, known := dunning.ClassOf(code)
	if !known {
		l.Log.Warn("unknown decline code: treated as a decline by the bank", "shop", l.Shop.Domain, "attempt", a.ID, "code", code)
	}
	if a.Try == 1 && class.FromBank() && c.PaymentMethod != "" {
		l.Tries = append(l.Tries, billing.CardTry{PaymentMethod: c.PaymentMethod, At: lastTried(*a)})
	}
	if class.NeedsStaff() {
		l.Note(*a, activity.BillingAttemptNotification, activity.Failure, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, ErrorCode: code, Reason: "the store's staff has to look at it"})
	}
	if other := c.Dunning; other != nil && other.Attempt != int64(a.ID) {
		if a.BillingDate.After(l.Now) { // a person charged it early: it is charged again on its own date
			a.DueAt = a.BillingDate
		}
		return nil
	}
	if stop, _, reason := decide.Blocked(*a, decide.Inputs{Shop: l.Shop, Contract: *c}); stop {
		if a.Dunning.State.Live() {
			l.abandon(a, reason)
		}
		return nil
	}
	g, err := billing.CaseInputs(l.Shop, *a)
	if err != nil {
		return err
	}
	a.Dunning.Decline(g, code, lastTried(*a), l.Now)
	if a.Dunning.Cause == dunning.ByCardUpdate {
		l.Entries = append(l.Entries, retriedAfter(*a, dunning.NewPayment, l.Now))
	}
	return l.advance(a, g)
}

// advance takes the steps of a case that are due, other than a charge, and sets when the
// next step is due.
func (l *Cases) advance(a *billing.Attempt, g dunning.Inputs) error {
	if a.Dunning.Over(l.Now) {
		return l.finish(a, g)
	}
	if slot, ok := a.Dunning.Notice(g, l.Now); ok && !a.Dunning.Due(l.Now) {
		if err := l.notify(a, slot, g); err != nil {
			return err
		}
	}
	a.DueAt = a.Dunning.NextDue(g)
	l.sync(a)
	return nil
}

// finish takes the final action of a case that no retry has solved. Package amend pauses or
// cancels the contract, because the platform must do so first.
func (l *Cases) finish(a *billing.Attempt, g dunning.Inputs) error {
	action := g.Settings.Final(a.Dunning.Class)
	a.DueAt = time.Time{}
	if action != dunning.Skip {
		a.Dunning.State, a.Dunning.Action, a.Dunning.EndAt = dunning.Ending, action, time.Time{}
		l.Contracts[a.Contract].AmendAt = l.Now
		l.sync(a)
		return nil
	}
	if slot, ok := a.Dunning.Notice(g, l.Now); ok && slot.What == dunning.Declined {
		if err := l.notify(a, slot, g); err != nil {
			return err
		}
	}
	return l.giveUp(a, action, activity.DunningSkipped, activity.Success, "no retry is left")
}

// giveUp closes a case by skipping the order.
func (l *Cases) giveUp(a *billing.Attempt, action dunning.Action, event activity.EventType, status activity.Status, reason string) error {
	if err := a.EndWithoutCharge(billing.SkippedDunning, billing.Record{Attempt: *a, Of: *l.Contracts[a.Contract]}); err != nil {
		return err
	}
	a.DueAt, a.Dunning.Action = time.Time{}, action
	l.closeCase(a, dunning.Lost)
	l.Note(*a, event, status, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason})
	return nil
}

// abandon closes the case of an order that may no longer be charged.
func (l *Cases) abandon(a *billing.Attempt, reason string) {
	a.DueAt = time.Time{}
	l.closeCase(a, dunning.Lost)
	l.Note(*a, activity.DunningAttemptSkipped, activity.Skipped, billing.EntryInfo{Cycle: a.Cycle, Reason: reason})
}

func (l *Cases) closeCase(a *billing.Attempt, as dunning.State) {
	l.Changed = append(l.Changed, a.ID)
	a.Dunning.Close(as, l.Now)
	l.sync(a)
}

// CloseCase closes the attempt's case if it has an open one.
func (l *Cases) CloseCase(a *billing.Attempt, as dunning.State) {
	if a.Dunning.State.Live() {
		l.closeCase(a, as)
	}
}

// Supersede marks an older unpaid order of the contract to be given up, because a later
// order was paid: the customer gets one order, not two.
func (l *Cases) Supersede(a billing.Attempt) {
	if other := l.Contracts[a.Contract].Dunning; other != nil && other.Attempt != int64(a.ID) && other.Cycle < a.Cycle {
		l.superseded = append(l.superseded, billing.AttemptID(other.Attempt))
	}
}

// DropSuperseded gives up the orders that Supersede marked.
func (l *Cases) DropSuperseded(ctx context.Context, tx billing.Tx) error {
	var missing []billing.AttemptID
	for _, id := range l.superseded {
		if l.Attempts[id] == nil {
			missing = append(missing, id)
		}
	}
	rows, err := tx.Attempts(ctx, missing)
	if err != nil {
		return err
	}
	for i := range rows {
		l.Attempts[rows[i].ID] = &rows[i]
	}
	for _, id := range l.superseded {
		a := l.Attempts[id]
		if a == nil || a.Status != billing.Failure || !a.Dunning.State.Live() {
			continue
		}
		if err := l.giveUp(a, dunning.Skip, activity.DunningSkipped, activity.Success, "a later order was paid"); err != nil {
			return err
		}
	}
	return nil
}

// sync copies the attempt's case to its contract.
func (l *Cases) sync(a *billing.Attempt) {
	c := l.Contracts[a.Contract]
	if billing.SyncCase(c, *a, l.Shop) {
		l.Refill = append(l.Refill, c.ID)
	}
}

// Advance does what a decision on a case says.
func (l *Cases) Advance(a *billing.Attempt, v decide.Decision) error {
	l.Changed = append(l.Changed, a.ID)
	g, err := billing.CaseInputs(l.Shop, *a)
	if err != nil {
		return err
	}
	switch v.CaseStep {
	case decide.CloseCase:
		l.abandon(a, v.Reason)
		return nil
	case decide.SkipRetry:
		l.Note(*a, activity.DunningAttemptSkipped, activity.Skipped, billing.EntryInfo{Cycle: a.Cycle, Reason: v.Reason})
		a.Dunning.SkipRetry(g)
	case decide.PostponeRetry:
		a.Dunning.RetryAt = v.Until
	case decide.Proceed:
	}
	return l.advance(a, g)
}
