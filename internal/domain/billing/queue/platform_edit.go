package queue

import (
	"time"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/platform"
)

// TakeEdit applies an edit of a cycle at the platform to its attempt. It reports false if the
// attempt agrees with the platform, or if ours is newer and not published yet.
func TakeEdit(a *billing.Attempt, c platform.Cycle, cal cadence.Calendar, tolerance time.Duration, now time.Time) (activity.Entry, bool, error) {
	if !a.PublishAt.IsZero() {
		return activity.Entry{}, false, nil
	}
	a.UpdatedAt = now
	switch {
	case a.Status == billing.Queued && c.Skipped:
		if err := a.ChangeStatus(billing.Skipped); err != nil {
			return activity.Entry{}, false, err
		}
		a.DueAt, a.ErrorMessage = time.Time{}, ""
		return billing.NewEntry(*a, activity.BillingAttemptSkipped, activity.Success, activity.Platform, now, billing.EntryInfo{Cycle: a.Cycle}), true, nil
	case a.Status == billing.Skipped && !c.Skipped && !c.Billed && a.BillingDate.After(now) && a.ErrorMessage == "" && a.Prep.Kept.IsZero():
		if err := a.ChangeStatus(billing.Queued); err != nil {
			return activity.Entry{}, false, err
		}
		a.DueAt = a.BillingDate
		return billing.NewEntry(*a, activity.BillingAttemptUpdated, activity.Success, activity.Platform, now, billing.EntryInfo{Cycle: a.Cycle, Reason: billing.NoLongerSkipped}), true, nil
	case a.Status == billing.Queued && c.Edited && !a.Prep.Edited && c.Expected.After(now) && !c.Expected.Equal(a.Prep.Kept) && apart(c.Expected, a.BillingDate) > tolerance:
		before := a.BillingDate
		a.BillingDate, a.Moved = billing.OrderAt(c.Expected, now, cal), true
		a.DueAt = a.BillingDate
		return billing.NewEntry(*a, activity.NextBillingDateChange, activity.Success, activity.Platform, now, billing.EntryInfo{
			Cycle: a.Cycle, From: before.Format(time.RFC3339), To: a.BillingDate.Format(time.RFC3339),
		}), true, nil
	}
	return activity.Entry{}, false, nil
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }
