package cases

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// remedies are the actor and the reason of the entry about a retry after a remedy.
var remedies = map[dunning.Remedy]struct {
	actor  activity.Actor
	reason string
}{
	dunning.NewPayment: {activity.Platform, "the payment method has changed"},
	dunning.NewAddress: {activity.System, "the delivery address has changed"},
}

// RetryAfter charges unpaid orders again at once if a remedy may help against their declines, in
// the caller's transaction. It starts no other cycle. A charge in flight with the old payment
// method is tried again if it is declined. at is when the remedy came about, by contract, if
// that was not just now: an order that was charged long after it was declined in spite of it.
func RetryAfter(ctx context.Context, tx billing.Tx, of shop.Shop, remedy dunning.Remedy, ids []contract.ID, at map[contract.ID]time.Time, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}
	contracts, err := billing.ContractsByID(tx.Contracts(ctx, ids))
	if err != nil {
		return err
	}
	attempts, err := tx.OpenAttempts(ctx, ids, now)
	if err != nil {
		return err
	}
	attempts = slices.DeleteFunc(attempts, func(a billing.Attempt) bool {
		return remedy != dunning.NewPayment || !a.Status.InFlight() || knew(a, at[a.Contract])
	})
	var failed []billing.AttemptID
	for _, c := range contracts {
		if c.Dunning != nil && c.Status == contract.Active && c.PaymentUsable {
			failed = append(failed, billing.AttemptID(c.Dunning.Attempt))
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
		if a.Status != billing.Failure || !chargeable(a, *contracts[a.Contract]) || !remedy.Helps(a.Dunning.Class) || knew(a, at[a.Contract]) {
			continue
		}
		a.Dunning.Retry(dunning.ByCardUpdate, now)
		a.DueAt, a.UpdatedAt = now, now
		attempts = append(attempts, a)
		billing.SyncCase(contracts[a.Contract], a, of)
		shown = append(shown, a.Contract)
		entries = append(entries, retriedAfter(a, remedy, now))
	}
	if err := tx.PutAttempts(ctx, attempts); err != nil {
		return err
	}
	if len(shown) == 0 {
		return nil
	}
	if err := tx.PutProgress(ctx, billing.PickContracts(contracts, shown)); err != nil {
		return err
	}
	if err := tx.Record(ctx, entries...); err != nil {
		return err
	}
	return tx.Enqueue(ctx, billing.Task{Shop: of.ID})
}

// chargeable reports whether an unpaid order can still be charged: its case is not held, and the
// platform has not been asked to pause or cancel its contract.
func chargeable(a billing.Attempt, c contract.Contract) bool {
	return a.Dunning.State == dunning.Open || a.Dunning.State == dunning.Ending && c.Moving == nil
}

// retriedAfter is the entry about an order that is charged again because of a remedy.
func retriedAfter(a billing.Attempt, r dunning.Remedy, now time.Time) activity.Entry {
	return billing.NewEntry(a, activity.ImmediateRetryTriggered, activity.Info, remedies[r].actor, now, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try + 1, Reason: remedies[r].reason})
}

// remedyDelay is how much later than a remedy a charge may be that was made without it. The
// instants are of two clocks: the platform's and ours, which may be hours ahead.
const remedyDelay = 12 * time.Hour

// knew reports whether the last charge was certainly made after a change at the platform. A zero
// instant means that the change has just been made.
func knew(a billing.Attempt, change time.Time) bool {
	return !change.IsZero() && change.Before(a.SentAt.Add(-remedyDelay))
}
