package command

import (
	"context"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Decline has an upcoming order keep the products that swap rules would replace in it. A rule that
// lasts acts on the order after it instead.
type Decline struct {
	Line    shop.Line
	Attempt billing.AttemptID
	Actor   activity.Actor
	Permit  Permit // nil: the actor may
}

// Decline declines what rules would replace in an order.
func (s *Service) Decline(ctx context.Context, of shop.ID, cmd Decline) (billing.Record, error) {
	return s.change(ctx, of, target{by: cmd.Actor, line: cmd.Line, attempt: cmd.Attempt, permit: cmd.Permit}, func(r *draft, now time.Time) ([]activity.Entry, error) {
		return decline(r, cmd.Actor, now)
	})
}

func decline(r *draft, by activity.Actor, now time.Time) ([]activity.Entry, error) {
	if r.Status.InFlight() {
		return nil, billing.Busy(r.Attempt)
	}
	var rules []swap.Rule
	if r.Status == billing.Queued {
		rules = r.Order().Applied
	}
	if len(rules) == 0 {
		return nil, fault.New(fault.FailedPrecondition, "no swap rule changes the order of billing attempt %d, or it has already", r.ID).
			Entity(billing.AttemptEntity).Code("nothingToDecline")
	}
	declined := slices.Clone(r.Prep.Declined)
	var entries []activity.Entry
	for _, rule := range rules {
		declined = append(declined, rule.ID)
		entries = append(entries, billing.NewEntry(r.Attempt, activity.UpcomingOrderUpdated, activity.Success, by, now, billing.EntryInfo{
			Cycle: r.Cycle, Rule: int64(rule.ID), RuleName: rule.Name, Reason: "the order keeps what the rule would replace",
		}))
	}
	r.Prep.Declined = declined
	return entries, nil
}
