package command

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/billing/billingtest"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// waits returns the record of cycle 3 of a monthly contract, which falls
// due at 14:00 UTC two days from now.
func waits(change ...func(*draft)) draft {
	r := draft{
		Record: billing.Record{
			Attempt: billingtest.Due(func(a *billing.Attempt) { a.BillingDate = billingtest.Now.AddDate(0, 0, 2); a.DueAt = a.BillingDate }),
			Of:      billingtest.Monthly(),
		},
		shop: shop.Shop{ID: 1, TimeZone: "UTC", OrderHour: 14, Connected: true},
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

// opens lets the platform take charges of the record's cycle from an instant on.
func opens(at time.Time) func(*draft) {
	return func(r *draft) { r.opens = opening{r.Contract, r.Cycle, at} }
}

// chargesAt makes the store charge at another hour.
func chargesAt(hour int) func(*draft) { return func(r *draft) { r.shop.OrderHour = hour } }

func TestReschedule(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	for _, row := range []struct {
		name    string
		r       draft
		to      time.Time
		future  bool
		date    time.Time
		series  contract.Series // with which the calendar starts again; zero: it goes on
		entries int
	}{
		{"an order moves to the order time of the day", waits(), at(3, 20, 3), false, at(3, 20, 14), contract.Series{}, 1},
		{"the calendar counts from the date when later orders follow", waits(), at(3, 20, 3), true, at(3, 20, 14), contract.Series{Cycle: 3, Start: at(3, 20, 14), Moved: true}, 1},
		{"an order that keeps its date changes nothing", waits(), at(3, 12, 9), false, at(3, 12, 14), contract.Series{}, 0},
		{"an order that keeps its date can still give it to later ones", waits(), at(3, 12, 9), true, at(3, 12, 14), contract.Series{Cycle: 3, Start: at(3, 12, 14), Moved: true}, 1},
		{"the same again changes nothing", waits(func(r *draft) {
			r.Of.Series = contract.Series{Cycle: 3, Start: r.BillingDate, Moved: true}
		}), at(3, 12, 14), true, at(3, 12, 14), contract.Series{}, 0},
		{"an order moves forward as far as the platform takes it", waits(opens(at(3, 11, 14))), at(3, 11, 9), false, at(3, 11, 14), contract.Series{}, 1},
		{"an instant later today, after the order time, stays", waits(opens(at(3, 1, 0))), billingtest.Now.Add(7 * time.Hour), false, billingtest.Now.Add(7 * time.Hour), contract.Series{}, 1},
		{"an instant of today before the order time waits for it", waits(opens(at(3, 1, 0)), chargesAt(23)), billingtest.Now.Add(7 * time.Hour), false, at(billingtest.Now.Month(), billingtest.Now.Day(), 23), contract.Series{}, 1},
		{"an instant later today, when the order time has passed, stays too", waits(opens(at(3, 1, 0)), chargesAt(0)), billingtest.Now.Add(7 * time.Hour), false, billingtest.Now.Add(7 * time.Hour), contract.Series{}, 1},
		{"later orders follow its day", waits(opens(at(3, 1, 0)), chargesAt(0)), billingtest.Now.Add(7 * time.Hour), true, billingtest.Now.Add(7 * time.Hour), contract.Series{Cycle: 3, Start: billingtest.Now.Add(7 * time.Hour), Moved: true}, 1},
		{"an instant of another day comes at its order time", waits(opens(at(3, 1, 0))), at(3, 11, 20), false, at(3, 11, 14), contract.Series{}, 1},
		{"today is the store's today", waits(opens(at(3, 1, 0)), func(r *draft) { r.shop.TimeZone, r.shop.OrderHour = "Pacific/Kiritimati", 2 }), at(3, 11, 9), false, at(3, 11, 9), contract.Series{}, 1},
		{"a failed order moves too", waits(func(r *draft) { r.Status = billing.Failure }), at(3, 20, 14), true, at(3, 20, 14), contract.Series{Cycle: 3, Start: at(3, 20, 14), Moved: true}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := row.r
			entries, err := reschedule(&r, Reschedule{BillingDate: row.to, Future: row.future}, billingtest.Now)
			if err != nil || !r.BillingDate.Equal(row.date) || r.restarts != row.series || len(entries) != row.entries {
				t.Errorf("on %s with series %+v and %d entries, %v", r.BillingDate, r.restarts, len(entries), err)
			}
			if row.entries > 0 && r.Status == billing.Queued && !r.PublishAt.Equal(billingtest.Now) {
				t.Errorf("publish at %s", r.PublishAt)
			}
		})
	}
}

func TestRescheduleRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    draft
		to   time.Time
		kind fault.Kind
		key  string
	}{
		{"a charge that is under way", waits(func(r *draft) { r.Status = billing.Requesting }), billingtest.Now.AddDate(0, 0, 9), fault.Conflict, "billingInProgress"},
		{"an order that was made", waits(func(r *draft) { r.Status = billing.Success }), billingtest.Now.AddDate(0, 0, 9), fault.FailedPrecondition, "billingAttemptStatus"},
		{"a date in the past", waits(), billingtest.Now.Add(-11 * time.Minute), fault.Invalid, "billingDatePast"},
		{"a date beyond all plans", waits(), billingtest.Now.AddDate(6, 0, 0), fault.Invalid, "billingDateTooFar"},
		{"a date before the platform takes the charge", waits(opens(billingtest.Now.AddDate(0, 0, 1).Add(5 * time.Hour))), billingtest.Now.AddDate(0, 0, 1), fault.FailedPrecondition, "billingDateTooEarly"},
		{"an earlier date when another cycle was asked for", waits(func(r *draft) { r.opens = opening{contract: r.Contract, cycle: 2} }), billingtest.Now.AddDate(0, 0, 1), fault.Conflict, "changedMeanwhile"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			before := row.r
			_, err := reschedule(&row.r, Reschedule{BillingDate: row.to, Future: true}, billingtest.Now)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != row.kind || f.ErrorKey != row.key || row.r.Of.Series != before.Of.Series {
				t.Errorf("got %v, series %+v", err, row.r.Of.Series)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		status  billing.Status
		note    string
		kind    fault.Kind // Internal: none
		entries int
	}{
		{"a note is replaced", billing.Queued, "knock\n<b>", fault.Internal, 1},
		{"an empty note clears", billing.Queued, "", fault.Internal, 1},
		{"the same note again changes nothing", billing.Queued, "ring twice", fault.Internal, 0},
		{"a note of 5000 characters, not bytes", billing.Queued, strings.Repeat("ü", billing.MaxNote), fault.Internal, 1},
		{"a note that is too long", billing.Queued, strings.Repeat("ü", billing.MaxNote+1), fault.Invalid, 0},
		{"an order that was made", billing.Success, "x", fault.FailedPrecondition, 0},
		{"an order that failed", billing.Failure, "x", fault.FailedPrecondition, 0},
		{"an order that was skipped", billing.Skipped, "ring twice", fault.FailedPrecondition, 0},
		{"an order that is being charged", billing.Progress, "x", fault.Conflict, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := waits(func(r *draft) { r.Status, r.Note = row.status, "ring twice" })
			entries, err := setNote(&r, Note{Note: row.note}, billingtest.Now)
			if row.kind == fault.Internal {
				if err != nil || r.Note != row.note || len(entries) != row.entries {
					t.Errorf("note %.20q with %d entries, %v", r.Note, len(entries), err)
				}
			} else if !fault.Is(err, row.kind) || r.Note != "ring twice" {
				t.Errorf("note %.20q, %v", r.Note, err)
			}
		})
	}
}
