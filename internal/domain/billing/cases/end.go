package cases

import (
	"context"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/dunning"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// ends is the status that each final action gives a contract, and the event of its entry.
var ends = map[dunning.Action]struct {
	status contract.Status
	event  activity.EventType
}{
	dunning.Pause:  {contract.Paused, activity.DunningPaused},
	dunning.Cancel: {contract.Cancelled, activity.DunningCancelled},
}

// EndOf returns the status that a contract gets because its unpaid order was given up; false if
// it gets none.
func EndOf(c contract.Contract) (contract.Status, bool) {
	if !c.EndsAfterDunning() {
		return "", false
	}
	end, ok := ends[c.Dunning.Action]
	return end.status, ok
}

// Fence closes the cases of contracts that are no longer ACTIVE, in the transaction that makes
// them so: their orders are not charged again. It changes the contracts, which the caller writes.
func Fence(ctx context.Context, tx billing.Tx, of shop.Shop, contracts []contract.Contract, now time.Time) error {
	stopped := make(map[contract.ID]*contract.Contract)
	var ids []billing.AttemptID
	for i := range contracts {
		if c := &contracts[i]; c.Dunning != nil && c.Status != contract.Active {
			stopped[c.ID] = c
			ids = append(ids, billing.AttemptID(c.Dunning.Attempt))
		}
	}
	attempts, err := tx.Attempts(ctx, ids)
	if err != nil {
		return err
	}
	var changed []billing.Attempt
	var entries []activity.Entry
	var mails []notify.Message
	for _, a := range attempts {
		c := stopped[a.Contract]
		if a.Status != billing.Failure || !a.Dunning.State.Live() {
			continue // its charge is in flight, and the outcome closes the case
		}
		event, status, reason := activity.DunningAttemptSkipped, activity.Skipped, "the contract is "+strings.ToLower(string(c.Status))
		end, ended := ends[a.Dunning.Action]
		if ended = ended && a.Dunning.State == dunning.Ending && end.status == c.Status; ended {
			event, status, reason = end.event, activity.Success, "no retry is left"
			messages, err := paymentMessages(&a, *c, of, notify.Suspension, notify.Decline{Class: a.Dunning.Class, Action: a.Dunning.Action}, now)
			if err != nil {
				return err
			}
			if a.Dunning.Class != dunning.Gone {
				mails = append(mails, messages...)
			}
		}
		if c.Status != contract.Paused {
			if err := a.EndWithoutCharge(billing.SkippedDunning, billing.Record{Attempt: a, Of: *c}); err != nil {
				return err
			}
		}
		a.Dunning.Close(dunning.Lost, now)
		a.DueAt, a.UpdatedAt = time.Time{}, now
		changed = append(changed, a)
		entries = append(entries, billing.NewEntry(a, event, status, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason}))
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

// CannotEnd closes a case whose final action the platform refuses. It changes the contract, which
// the caller writes.
func CannotEnd(ctx context.Context, tx billing.Tx, c *contract.Contract, reason string, now time.Time) error {
	if !c.EndsAfterDunning() {
		return nil
	}
	attempts, err := tx.Attempts(ctx, []billing.AttemptID{billing.AttemptID(c.Dunning.Attempt)})
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
		entries = append(entries, billing.NewEntry(*a, event, activity.Failure, activity.System, now, billing.EntryInfo{Cycle: a.Cycle, Try: a.Try, ErrorCode: a.ErrorCode, Reason: reason}))
	}
	if err := tx.PutAttempts(ctx, attempts); err != nil {
		return err
	}
	return tx.Record(ctx, entries...)
}
