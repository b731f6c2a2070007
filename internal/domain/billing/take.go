package billing

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

// TakeEdit takes over what somebody edited of a cycle at the platform. It
// reports false when the attempt agrees with the platform, or when ours is the
// later word and the platform has not heard it yet.
func TakeEdit(a *Attempt, c platform.Cycle, cal cadence.Calendar, tolerance time.Duration, now time.Time) (activity.Entry, bool) {
	if !a.PublishAt.IsZero() {
		return activity.Entry{}, false
	}
	a.UpdatedAt = now
	switch {
	case a.Status == Queued && c.Skipped:
		a.Status = Skipped
		a.DueAt, a.ErrorMessage = time.Time{}, ""
		return entryOf(*a, activity.BillingAttemptSkipped, activity.Success, activity.Platform, now, outcome{Cycle: a.Cycle}), true
	case a.Status == Skipped && !c.Skipped && !c.Billed && a.BillingDate.After(now) && a.ErrorMessage == "" && a.Prep.Kept.IsZero():
		a.clearSkippedAmount()
		a.Status, a.DueAt = Queued, a.BillingDate
		return entryOf(*a, activity.BillingAttemptUpdated, activity.Success, activity.Platform, now, outcome{Cycle: a.Cycle, Reason: noLongerSkipped}), true
	case a.Status == Queued && c.Edited && !a.Prep.Edited && c.Expected.After(now) && !c.Expected.Equal(a.Prep.Kept) && apart(c.Expected, a.BillingDate) > tolerance:
		before := a.BillingDate
		a.BillingDate, a.Moved = OrderAt(c.Expected, now, cal), true
		a.DueAt = a.BillingDate
		return entryOf(*a, activity.NextBillingDateChange, activity.Success, activity.Platform, now, outcome{
			Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339),
		}), true
	}
	return activity.Entry{}, false
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }
