package billing

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ends says what status the final actions give a contract, and which entry tells
// of it.
var ends = map[dunning.Action]struct {
	status contract.Status
	event  activity.EventType
}{
	dunning.Pause:  {contract.Paused, activity.DunningPaused},
	dunning.Cancel: {contract.Cancelled, activity.DunningCancelled},
}

// EndOf returns the status that a contract is to get because an order of it could
// not be charged; false when it is to get none.
func EndOf(c contract.Contract) (contract.Status, bool) {
	if !c.EndsAfterDunning() {
		return "", false
	}
	end, ok := ends[c.Dunning.Action]
	return end.status, ok
}

// Fence ends the cases of contracts that are not active any more, in the
// transaction that makes them so: no retry of theirs is made. It changes the
// contracts, which the caller writes.
func Fence(ctx context.Context, tx Tx, of shop.Shop, contracts []contract.Contract, now time.Time) error {
	stopped := make(map[contract.ID]*contract.Contract)
	var ids []AttemptID
	for i := range contracts {
		if c := &contracts[i]; c.Dunning != nil && c.Status != contract.Active {
			stopped[c.ID] = c
			ids = append(ids, AttemptID(c.Dunning.Attempt))
		}
	}
	attempts, err := tx.Attempts(ctx, ids)
	if err != nil {
		return err
	}
	var changed []Attempt
	var entries []activity.Entry
	var mails []notify.Message
	for _, a := range attempts {
		c := stopped[a.Contract]
		if a.Status != Failure || !a.Dunning.State.Live() {
			continue // its charge is under way, and its end settles the case
		}
		event, status, reason := activity.DunningAttemptSkipped, activity.Skipped, "the contract is "+strings.ToLower(string(c.Status))
		end, ended := ends[a.Dunning.Action]
		if ended = ended && a.Dunning.State == dunning.Ending && end.status == c.Status; ended {
			event, status, reason = end.event, activity.Success, "no retry is left"
			m, err := paymentMail(&a, *c, of, notify.Payment{Kind: notify.Suspension, Class: a.Dunning.Class, Action: a.Dunning.Action}, now)
			if err != nil {
				return err
			}
			if m != nil && a.Dunning.Class != dunning.Gone {
				mails = append(mails, *m)
			}
		}
		if c.Status != contract.Paused {
			if err := a.endWithoutCharge(SkippedDunning, *c, 0); err != nil {
				return err
			}
		}
		a.Dunning.Close(dunning.Lost, now)
		a.DueAt, a.UpdatedAt = time.Time{}, now
		changed = append(changed, a)
		entries = append(entries, entryOf(a, event, status, activity.System, now, outcome{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason}))
	}
	for _, c := range stopped {
		c.Dunning = nil
	}
	if err := tx.PutAttempts(ctx, changed); err != nil {
		return err
	}
	if err := notify.Queue(ctx, tx, of.ID, mails...); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}

// remedies says how a retry is told of that follows a remedy.
var remedies = map[dunning.Remedy]struct {
	actor  activity.Actor
	reason string
}{
	dunning.NewPayment: {activity.Platform, "the payment method has changed"},
	dunning.NewAddress: {activity.System, "the delivery address has changed"},
}

// RetryAfter has orders charged again at once against the declines of which a
// remedy may help, in the caller's transaction. No other cycle is begun for it. A
// charge that is under way with the payment method before is tried again should it
// be declined. A remedy that came about long before an order was charged was known
// to whoever declined it, however late we hear of it; at says by contract when it
// did, if that was not just now.
func RetryAfter(ctx context.Context, tx Tx, of shop.Shop, remedy dunning.Remedy, ids []contract.ID, at map[contract.ID]time.Time, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	contracts, err := byID(tx.Contracts(ctx, ids))
	if err != nil {
		return err
	}
	attempts, err := tx.OpenAttempts(ctx, ids, now)
	if err != nil {
		return err
	}
	attempts = slices.DeleteFunc(attempts, func(a Attempt) bool {
		return remedy != dunning.NewPayment || !a.Status.InFlight() || a.knew(at[a.Contract])
	})
	var failed []AttemptID
	for _, c := range contracts {
		if c.Dunning != nil && c.Status == contract.Active && c.PaymentUsable {
			failed = append(failed, AttemptID(c.Dunning.Attempt))
		}
	}
	unpaid, err := tx.Attempts(ctx, failed)
	if err != nil {
		return err
	}
	var entries []activity.Entry
	var shown []contract.ID
	for i := range attempts {
		attempts[i].Dunning.PaidWith, attempts[i].UpdatedAt = now, now
	}
	for _, a := range unpaid {
		if a.Status != Failure || !chargeable(a, *contracts[a.Contract]) || !remedy.Helps(a.Dunning.Class) || a.knew(at[a.Contract]) {
			continue
		}
		a.Dunning.Retry(dunning.ByCardUpdate, now)
		a.DueAt, a.UpdatedAt = now, now
		attempts = append(attempts, a)
		showCase(contracts[a.Contract], a, of)
		shown = append(shown, a.Contract)
		entries = append(entries, retriedAfter(a, remedy, now))
	}
	if err := tx.PutAttempts(ctx, attempts); err != nil {
		return err
	}
	if len(shown) == 0 {
		return nil
	}
	if err := tx.PutProgress(ctx, chosen(contracts, shown)); err != nil {
		return err
	}
	if err := tx.Record(ctx, entries...); err != nil {
		return err
	}
	return tx.Enqueue(ctx, Work{Shop: of.ID})
}

// chargeable reports whether an unpaid order can still be charged: nobody holds it, and the
// platform has not been asked to pause or cancel its contract.
func chargeable(a Attempt, c contract.Contract) bool {
	return a.Dunning.State == dunning.Open || a.Dunning.State == dunning.Ending && c.Moving == nil
}

// retriedAfter tells that an order is charged again because of a remedy.
func retriedAfter(a Attempt, r dunning.Remedy, now time.Time) activity.Entry {
	return entryOf(a, activity.ImmediateRetryTriggered, activity.Info, remedies[r].actor, now, outcome{Cycle: a.Cycle, Try: a.Try + 1, Reason: remedies[r].reason})
}

// remedyDelay is how much later than a remedy a charge may be that was made without
// it: the platform's clock tells of the one, and ours, which may be ahead by hours,
// of the other.
const remedyDelay = 12 * time.Hour

// knew reports whether the last charge was certainly made after a change at the
// platform; a zero instant says that the change has just been made.
func (a Attempt) knew(change time.Time) bool {
	return !change.IsZero() && change.Before(a.SentAt.Add(-remedyDelay))
}

// CannotEnd gives up the final action that the platform does not allow, and the
// case with it. It changes the contract, which the caller writes.
func CannotEnd(ctx context.Context, tx Tx, c *contract.Contract, reason string, now time.Time) error {
	if !c.EndsAfterDunning() {
		return nil
	}
	attempts, err := tx.Attempts(ctx, []AttemptID{AttemptID(c.Dunning.Attempt)})
	if err != nil {
		return err
	}
	event := ends[c.Dunning.Action].event
	c.Dunning = nil
	var entries []activity.Entry
	for i := range attempts {
		a := &attempts[i]
		if a.Dunning.State != dunning.Ending {
			continue
		}
		a.Dunning.Close(dunning.Lost, now)
		a.UpdatedAt = now
		entries = append(entries, entryOf(*a, event, activity.Failure, activity.System, now, outcome{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason}))
	}
	if err := tx.PutAttempts(ctx, attempts); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}

// ReleaseHeld has the orders charged again, at their store's next order time, that
// wait because the store could not take payments. It returns how many there are.
func (s *Service) ReleaseHeld(ctx context.Context, of shop.ID, by activity.Actor) (int, error) {
	n := 0
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		n = 0
		now := s.Clock.Now()
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		contracts, err := tx.ContractsInDunning(ctx)
		if err != nil {
			return err
		}
		contracts = slices.DeleteFunc(contracts, func(c contract.Contract) bool { return c.Dunning.State != dunning.Held })
		known, _ := byID(contracts, nil)
		var ids []AttemptID
		for _, c := range contracts {
			ids = append(ids, AttemptID(c.Dunning.Attempt))
		}
		attempts, err := tx.Attempts(ctx, ids)
		if err != nil {
			return err
		}
		attempts = slices.DeleteFunc(attempts, func(a Attempt) bool { return a.Status != Failure || a.Dunning.State != dunning.Held })
		entries := make([]activity.Entry, len(attempts))
		for i := range attempts {
			a := &attempts[i]
			g, err := groundOf(store, *a)
			if err != nil {
				return err
			}
			at := g.Calendar.At(now).Add(g.Spread)
			if !at.After(now) {
				at = g.Calendar.At(now.In(g.Calendar.Zone).AddDate(0, 0, 1)).Add(g.Spread)
			}
			a.Dunning.Retry(dunning.ByHand, at)
			a.DueAt, a.UpdatedAt = at, now
			showCase(known[a.Contract], *a, store)
			entries[i] = entryOf(*a, activity.BillingAttemptUpdated, activity.Info, by, now, outcome{Cycle: a.Cycle, Reason: "the store can take payments again", To: at.Format(time.RFC3339)})
		}
		n = len(attempts)
		if err := tx.PutAttempts(ctx, attempts); err != nil {
			return err
		}
		if err := tx.PutProgress(ctx, contracts); err != nil {
			return err
		}
		return tx.Record(ctx, entries...)
	})
	return n, err
}
