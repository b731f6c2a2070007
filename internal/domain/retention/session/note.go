package session

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
)

// NoteTx is the transaction of a change.
type NoteTx interface {
	flow.Reader
	// CancelSession returns a session, locked, or NotFound.
	CancelSession(ctx context.Context, id ID) (Session, error)
	// PutCancelSession inserts a session whose ID is 0, giving it one, and writes others if
	// their Version is still what was read; otherwise it fails with a Conflict. So does a
	// second open session of a contract. It raises the version.
	PutCancelSession(ctx context.Context, s *Session) error
	retention.Writer
}

// LossTx is a transaction in which contracts end.
type LossTx interface {
	// LoseCancelSessions sets LostAt of sessions that have ended and have none, by contract.
	LoseCancelSessions(ctx context.Context, ended map[contract.ID]time.Time) error
}

// NoteOutcomes ends the sessions whose offer was carried out or whose contract was cancelled,
// in the commit that does it.
func NoteOutcomes(ctx context.Context, tx NoteTx, entries []activity.Entry) error {
	for _, e := range entries {
		if e.Actor.CancelSession == 0 || e.Status != activity.Success && e.Status != activity.Info {
			continue
		}
		s, err := tx.CancelSession(ctx, ID(e.Actor.CancelSession))
		if err != nil {
			return err
		}
		outcome, action, over := s.madeBy(e)
		if !over {
			continue
		}
		if err := conclude(ctx, tx, &s, outcome, action, string(outcome), e.Actor, e.At); err != nil {
			return err
		}
	}
	return nil
}

// made are the events that say that an offer was carried out.
var made = map[flow.Kind][]activity.EventType{
	flow.Pause: {activity.ContractPaused}, flow.Discount: {activity.DiscountApplied}, flow.Swap: {activity.ProductReplace},
	flow.Frequency: {activity.BillingIntervalChange, activity.ProductSellingPlanChange}, flow.Quantity: {activity.ProductQuantityChange},
	flow.Reschedule: {activity.NextBillingDateChange}, flow.Sample: {activity.OneTimePurchaseProductAdded, activity.OneTimePurchaseProductUpdate},
	flow.PaymentLink: {activity.InformationalEvent},
}

// madeBy reports whether an entry says that what the session asked for is done, and how it
// ends then.
func (s Session) madeBy(e activity.Entry) (Outcome, string, bool) {
	switch {
	case s.Step == Cancelling && e.Event == activity.ContractCancelled:
		return Cancelled, retention.Cancelled, true
	case s.Step == Cancelling && (e.Event == activity.PrepaidDeferredCancellationScheduled || e.Event == activity.InformationalEvent):
		return Scheduled, retention.CancelScheduled, true
	case s.Step == Accepting && s.Offer.Kind == flow.Skip:
		last := s.Offer.Skips[len(s.Offer.Skips)-1].Attempt
		return Accepted, actions[flow.Skip], e.Event == activity.BillingAttemptSkipped && e.EntityID == int64(last)
	case s.Step == Accepting:
		return Accepted, actions[s.Offer.Kind], slices.Contains(made[s.Offer.Kind], e.Event)
	}
	return "", "", false
}

// NoteLosses says of sessions that had kept a contract that it has ended all the same.
func NoteLosses(ctx context.Context, tx LossTx, written []contract.Contract) error {
	ended := make(map[contract.ID]time.Time)
	for _, c := range written {
		switch {
		case c.Status == contract.Cancelled && !c.CancelledAt.IsZero():
			ended[c.ID] = c.CancelledAt
		case c.Terminated():
			ended[c.ID] = c.UpdatedAt
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return tx.LoseCancelSessions(ctx, ended)
}
