package repair

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// Stuck is what of a store a person has to look at.
type Stuck struct {
	Gone     string          `json:"gone,omitempty"`     // why the store is not charged and not asked any more
	Frozen   string          `json:"frozen,omitempty"`   // why nothing is charged
	Held     string          `json:"held,omitempty"`     // until when charges are held, and why
	Unheard  string          `json:"unheard,omitempty"`  // why the platform sends no webhooks
	Behind   string          `json:"behind,omitempty"`   // since when what changed at the platform is not known
	Compared string          `json:"compared,omitempty"` // since when the books were not compared, when that is too long ago
	Attempts []StuckAttempt  `json:"attempts"`
	Findings []StuckFinding  `json:"findings"`
	Events   []DiscardedWork `json:"events"` // of the platform's, that could not be worked
	Tasks    []DiscardedWork `json:"tasks"`  // that failed too often; what they were to do is found again
}

// StuckAttempt is a charge whose outcome is overdue.
type StuckAttempt struct {
	ID       billing.AttemptID `json:"id"`
	Contract contract.ID       `json:"contractId"`
	Cycle    int               `json:"cycle"`
	Status   billing.Status    `json:"status"`
	Since    time.Time         `json:"since"` // when it was sent last
	Reason   string            `json:"reason"`
}

// StuckFinding is a difference that stands.
type StuckFinding struct {
	Kind     Kind        `json:"kind"`
	Contract contract.ID `json:"contractId"`
	Cycle    int         `json:"cycle,omitempty"`
	What     string      `json:"what"`
	Since    time.Time   `json:"since"`
}

// DiscardedWork is what was given up.
type DiscardedWork struct {
	ID     string    `json:"id"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// stuckAtOnce is how much of each kind is listed.
const stuckAtOnce = 200

// Stuck lists what of a store a person has to look at.
func (s *Service) Stuck(ctx context.Context, of shop.ID) (Stuck, error) {
	var list Stuck
	err := s.Store.View(ctx, of, func(tx ReadTx) error {
		now := s.Clock.Now()
		list = Stuck{Attempts: []StuckAttempt{}, Findings: []StuckFinding{}}
		store, err := tx.Shop(ctx)
		if err != nil {
			return err
		}
		if !store.Connected {
			list.Gone = "the store's connection to the platform is gone: every order ends as " + string(billing.ConnectionGone) + " when it falls due, until the store is connected again"
		}
		list.Frozen, list.Compared = store.Guard.BlockReason(now), store.OverdueComparison(now)
		if h := store.Guard.Hold; !h.Since.IsZero() {
			list.Held = fmt.Sprintf("until %s: nearly all charges have been declined since %s", h.Until.Format(time.RFC3339), h.Since.Format(time.RFC3339))
		}
		list.Unheard, list.Behind = store.SubscribeError, behind(store, now)
		exceptions, err := tx.OpenSince(ctx, now.Add(time.Millisecond), stuckAtOnce, billing.PlatformException)
		if err != nil {
			return err
		}
		open, err := tx.OpenSince(ctx, now.Add(-s.Policy.Horizon), stuckAtOnce, billing.Requesting, billing.Progress, billing.Challenge)
		if err != nil {
			return err
		}
		for _, a := range append(exceptions, open...) {
			list.Attempts = append(list.Attempts, StuckAttempt{a.ID, a.Contract, a.Cycle, a.Status, a.SentAt, reasonOf(a)})
		}
		findings, err := tx.OpenFindings(ctx, stuckAtOnce)
		if err != nil {
			return err
		}
		for _, f := range findings {
			list.Findings = append(list.Findings, StuckFinding{f.Kind, f.Contract, f.Cycle, f.What, f.FirstSeen})
		}
		if list.Events, err = tx.DiscardedEvents(ctx, stuckAtOnce); err != nil {
			return err
		}
		list.Tasks, err = tx.DiscardedTasks(ctx, stuckAtOnce)
		return err
	})
	return list, err
}

// longestBehind is how old a store's last reconciliation may be.
const longestBehind = 24 * time.Hour

// behind says since when what changed at the platform is not known; "" when a
// reconciliation has ended not long ago.
func behind(of shop.Shop, now time.Time) string {
	switch {
	case !of.Connected || now.Sub(of.CreatedAt) < longestBehind || now.Sub(of.ReconciledAt) < longestBehind:
		return ""
	case of.ReconciledAt.IsZero():
		return "the contracts are being read again, which has not finished"
	}
	return "no reconciliation has come to its end since that of " + of.ReconciledAt.Format(time.RFC3339) + ": the service's log says why"
}

func reasonOf(a billing.Attempt) string {
	if a.ErrorMessage != "" {
		return a.ErrorMessage
	}
	return "the platform has not said how the charge ended"
}

// Retry has a charge without an end looked into now. What the platform has is
// adopted; it is sent again, under the same key, where that is safe.
func (s *Service) Retry(ctx context.Context, of shop.ID, id billing.AttemptID, by activity.Actor) error {
	return s.Store.Update(ctx, of, func(tx Tx) error {
		now := s.Clock.Now()
		rows, err := tx.Attempts(ctx, []billing.AttemptID{id})
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return fault.New(fault.NotFound, "there is no billing attempt %d", id).Entity("subscriptionBillingAttempt")
		}
		a := &rows[0]
		if !a.Status.InFlight() {
			return fault.New(fault.FailedPrecondition, "billing attempt %d is %s: its end is known", id, a.Status).Entity("subscriptionBillingAttempt").Code("billingAttemptStatus")
		}
		a.DueAt, a.UpdatedAt = now, now
		if err := tx.PutAttempts(ctx, rows); err != nil {
			return err
		}
		if err := tx.Record(ctx, activity.Entry{
			EntityID: int64(id), EntityType: activity.EntitySubscriptionBillingAttempt, Event: activity.ImmediateRetryTriggered, Status: activity.Info,
			Actor: by, At: now, Info: activity.Details(findingNote{Cycle: a.Cycle, Reason: "looked into because a person asked: " + reasonOf(*a)}),
		}); err != nil {
			return err
		}
		return tx.Enqueue(ctx, billing.Task{Shop: of})
	})
}
