package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// groundOf returns what computing with an attempt's case rests on.
func groundOf(of shop.Shop, a Attempt) (dunning.Inputs, error) {
	cal, err := of.Calendar()
	return rulesFor(of, a, cal), err
}

// rulesFor is groundOf for who has the store's calendar.
func rulesFor(of shop.Shop, a Attempt, cal cadence.Calendar) dunning.Inputs {
	return dunning.Inputs{
		Settings: of.Settings.Dunning, Due: a.BillingDate, Calendar: cal, Spread: dunning.SpreadOf(KeyOf(of.Domain, a.Contract, a.Cycle, 0)),
	}
}

// paidElsewhere reports whether the platform says that the order is paid. It is
// looked for, and never charged again.
func (a Attempt) paidElsewhere() bool {
	class, _ := dunning.ClassOf(a.ErrorCode)
	return class == dunning.Done && !a.accepted() && a.Status != Success
}

// hadCase reports whether a charge of the attempt was ever declined so that a case
// was opened.
func (a Attempt) hadCase() bool { return a.Dunning.State != "" }

// triedEarly reports whether the attempt was charged before its date because a person
// asked for it, was declined while another order was unpaid, and waits for its date.
func (a Attempt) triedEarly() bool { return a.Status == Failure && !a.hadCase() && !a.Moved }

// RetryingNeeded reports whether the declined order is charged again by itself.
// While there never was a case, it is what the caller has marked the order with.
func (a Attempt) RetryingNeeded() bool {
	switch {
	case !a.hadCase():
		return a.Flags.RetryingNeeded
	case a.Dunning.State.Live():
		return a.Status == Failure && !a.Dunning.RetryAt.IsZero()
	}
	return a.Status == Failure && !a.DueAt.IsZero() // a person gave it another date
}

// Unpaid reports whether the order could not be charged and has not been given up: it is
// pursued, or somebody gave it another date.
func (a Attempt) Unpaid() bool {
	return a.Status == Failure && (a.Dunning.State.Live() || !a.DueAt.IsZero())
}

// tried returns when the last try began.
func (a Attempt) tried() time.Time {
	if a.SentAt.IsZero() {
		return a.AttemptedAt
	}
	return a.SentAt
}

// startDunning decides what is done about an attempt whose charge was just declined. A
// contract has one open case: while an order of it is unpaid, others have none.
func (l *settlement) startDunning(a *Attempt, code string) error {
	c := l.contracts[a.Contract]
	class, known := dunning.ClassOf(code)
	if !known {
		l.log.Warn("a decline that the service does not know is taken for a bank's", "shop", l.shop.Domain, "attempt", a.ID, "code", code)
	}
	if a.Try == 1 && class.FromBank() && c.PaymentMethod != "" {
		l.tries = append(l.tries, CardTry{c.PaymentMethod, a.tried()})
	}
	if class.NeedsStaff() {
		l.note(*a, activity.BillingAttemptNotification, activity.Failure, outcome{Cycle: a.Cycle, Try: a.Try, ErrorCode: code, Reason: "the store's staff has to look at it"})
	}
	if other := c.Dunning; other != nil && other.Attempt != int64(a.ID) {
		if a.BillingDate.After(l.now) { // a person had it charged early: its own date is still to come
			a.DueAt = a.BillingDate
		}
		return nil
	}
	if stop, _, reason := hindrance(*a, inputs{shop: l.shop, contract: *c}); stop {
		if a.Dunning.State.Live() {
			l.forgo(a, reason)
		}
		return nil
	}
	g, err := groundOf(l.shop, *a)
	if err != nil {
		return err
	}
	a.Dunning.Decline(g, code, a.tried(), l.now)
	if a.Dunning.Cause == dunning.ByCardUpdate {
		l.entries = append(l.entries, retriedAfter(*a, dunning.NewPayment, l.now))
	}
	return l.pursue(a, g)
}

// pursue does what is due about a case besides charging, and says when there is
// something to do next.
func (l *settlement) pursue(a *Attempt, g dunning.Inputs) error {
	if a.Dunning.Over(l.now) {
		return l.finish(a, g)
	}
	if slot, ok := a.Dunning.Notice(g, l.now); ok && !a.Dunning.Due(l.now) {
		if err := l.notify(a, slot, g); err != nil {
			return err
		}
	}
	a.DueAt = a.Dunning.NextDue(g)
	l.show(a)
	return nil
}

// finish does what is left when nothing has helped. A contract is paused or
// cancelled at the platform first: that is left to whoever changes contracts.
func (l *settlement) finish(a *Attempt, g dunning.Inputs) error {
	action := g.Settings.Final(a.Dunning.Class)
	a.DueAt = time.Time{}
	if action != dunning.Skip {
		a.Dunning.State, a.Dunning.Action, a.Dunning.EndAt = dunning.Ending, action, time.Time{}
		l.contracts[a.Contract].AmendAt = l.now
		l.show(a)
		return nil
	}
	if slot, ok := a.Dunning.Notice(g, l.now); ok && slot.What == dunning.Declined {
		if err := l.notify(a, slot, g); err != nil {
			return err
		}
	}
	return l.giveUp(a, action, activity.DunningSkipped, activity.Success, "no retry is left")
}

// giveUp ends a case by leaving the order out.
func (l *settlement) giveUp(a *Attempt, action dunning.Action, event activity.EventType, status activity.Status, reason string) error {
	if err := a.endWithoutCharge(SkippedDunning, *l.contracts[a.Contract], 0); err != nil {
		return err
	}
	a.DueAt, a.Dunning.Action = time.Time{}, action
	l.closeCase(a, dunning.Lost)
	l.note(*a, event, status, outcome{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason})
	return nil
}

// forgo ends a case because its order may not be charged any more.
func (l *settlement) forgo(a *Attempt, reason string) {
	a.DueAt = time.Time{}
	l.closeCase(a, dunning.Lost)
	l.note(*a, activity.DunningAttemptSkipped, activity.Skipped, outcome{Cycle: a.Cycle, Reason: reason})
}

func (l *settlement) closeCase(a *Attempt, as dunning.State) {
	l.changed = append(l.changed, a.ID)
	a.Dunning.Close(as, l.now)
	l.show(a)
}

// settleCase ends the case of an attempt that needs none any more.
func (l *settlement) settleCase(a *Attempt, as dunning.State) {
	if a.Dunning.State.Live() {
		l.closeCase(a, as)
	}
}

// supersede gives up the older order of a contract of which a later one was paid:
// the customer gets one order, not two.
func (l *settlement) supersede(a Attempt) {
	if other := l.contracts[a.Contract].Dunning; other != nil && other.Attempt != int64(a.ID) && other.Cycle < a.Cycle {
		l.superseded = append(l.superseded, AttemptID(other.Attempt))
	}
}

// dropSuperseded gives up what was superseded.
func (l *settlement) dropSuperseded(ctx context.Context, tx Tx) error {
	var missing []AttemptID
	for _, id := range l.superseded {
		if l.attempts[id] == nil {
			missing = append(missing, id)
		}
	}
	rows, err := tx.Attempts(ctx, missing)
	if err != nil {
		return err
	}
	for i := range rows {
		l.attempts[rows[i].ID] = &rows[i]
	}
	for _, id := range l.superseded {
		a := l.attempts[id]
		if a == nil || a.Status != Failure || !a.Dunning.State.Live() {
			continue
		}
		if err := l.giveUp(a, dunning.Skip, activity.DunningSkipped, activity.Success, "a later order was paid"); err != nil {
			return err
		}
	}
	return nil
}

// show lets the contract tell of the attempt's case.
func (l *settlement) show(a *Attempt) {
	c := l.contracts[a.Contract]
	if showCase(c, *a, l.shop) {
		l.advanced = append(l.advanced, c.ID)
	}
}

// showCase lets a contract tell of the case of one of its attempts. It reports
// whether that was news.
func showCase(c *contract.Contract, a Attempt, of shop.Shop) bool {
	k := a.Dunning
	if !k.State.Live() {
		if c.Dunning == nil || c.Dunning.Attempt != int64(a.ID) {
			return false
		}
		c.Dunning = nil
		return true
	}
	action := k.Action
	if k.State != dunning.Ending {
		action = of.Settings.Dunning.Final(k.Class)
	}
	c.Dunning = &contract.Dunning{
		Attempt: int64(a.ID), Cycle: a.Cycle, State: k.State, Class: k.Class, Code: a.ErrorCode, Since: k.OpenedAt, Tries: a.Try,
		RetryAt: k.RetryAt, EndAt: k.EndAt, Action: action,
	}
	return true
}

// unpaid is why an order is left out while an older one is not paid.
func unpaid(c contract.Contract) string {
	return fmt.Sprintf("cycle %d could not be charged yet: no other order is made before it is paid or given up", c.Dunning.Cycle)
}
