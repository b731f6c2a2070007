package billing

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// waits returns the record of cycle 3 of a monthly contract, which is to be
// charged at 14:00 UTC two days from now.
func waits(change ...func(*Record)) Record {
	g := monthly()
	r := Record{
		Attempt: due(func(a *Attempt) { a.BillingDate = now.AddDate(0, 0, 2); a.DueAt = a.BillingDate }),
		Of:      g.contract,
		shop:    shop.Shop{ID: 1, TimeZone: "UTC", OrderHour: 14, Connected: true},
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

// opens lets the platform take charges of the record's cycle from an instant on.
func opens(at time.Time) func(*Record) {
	return func(r *Record) { r.opens = opening{r.Contract, r.Cycle, at} }
}

// chargesAt makes the store charge at another hour.
func chargesAt(hour int) func(*Record) { return func(r *Record) { r.shop.OrderHour = hour } }

func TestReschedule(t *testing.T) {
	t.Parallel()
	at := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	for _, row := range []struct {
		name    string
		r       Record
		to      time.Time
		future  bool
		date    time.Time
		series  contract.Series // with which the calendar begins anew; none: it goes on
		entries int
	}{
		{"an order moves to the order time of the day", waits(), at(3, 20, 3), false, at(3, 20, 14), contract.Series{}, 1},
		{"the calendar counts from the date when later orders follow", waits(), at(3, 20, 3), true, at(3, 20, 14), contract.Series{Cycle: 3, Start: at(3, 20, 14), Moved: true}, 1},
		{"an order that keeps its date changes nothing", waits(), at(3, 12, 9), false, at(3, 12, 14), contract.Series{}, 0},
		{"an order that keeps its date can still give it to later ones", waits(), at(3, 12, 9), true, at(3, 12, 14), contract.Series{Cycle: 3, Start: at(3, 12, 14), Moved: true}, 1},
		{"the same again changes nothing", waits(func(r *Record) {
			r.Of.Series = contract.Series{Cycle: 3, Start: r.BillingDate, Moved: true}
		}), at(3, 12, 14), true, at(3, 12, 14), contract.Series{}, 0},
		{"an order moves forward as far as the platform takes it", waits(opens(at(3, 11, 14))), at(3, 11, 9), false, at(3, 11, 14), contract.Series{}, 1},
		{"an instant later today, after the order time, stays", waits(opens(at(3, 1, 0))), now.Add(7 * time.Hour), false, now.Add(7 * time.Hour), contract.Series{}, 1},
		{"an instant of today before the order time waits for it", waits(opens(at(3, 1, 0)), chargesAt(23)), now.Add(7 * time.Hour), false, at(now.Month(), now.Day(), 23), contract.Series{}, 1},
		{"an instant later today, when the order time has passed, stays too", waits(opens(at(3, 1, 0)), chargesAt(0)), now.Add(7 * time.Hour), false, now.Add(7 * time.Hour), contract.Series{}, 1},
		{"later orders follow its day", waits(opens(at(3, 1, 0)), chargesAt(0)), now.Add(7 * time.Hour), true, now.Add(7 * time.Hour), contract.Series{Cycle: 3, Start: now.Add(7 * time.Hour), Moved: true}, 1},
		{"an instant of another day comes at its order time", waits(opens(at(3, 1, 0))), at(3, 11, 20), false, at(3, 11, 14), contract.Series{}, 1},
		{"today is the store's today", waits(opens(at(3, 1, 0)), func(r *Record) { r.shop.TimeZone, r.shop.OrderHour = "Pacific/Kiritimati", 2 }), at(3, 11, 9), false, at(3, 11, 9), contract.Series{}, 1},
		{"a failed order moves too", waits(func(r *Record) { r.Status = Failure }), at(3, 20, 14), true, at(3, 20, 14), contract.Series{Cycle: 3, Start: at(3, 20, 14), Moved: true}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := row.r
			entries, err := reschedule(&r, RescheduleCommand{BillingDate: row.to, Future: row.future}, now)
			if err != nil || !r.BillingDate.Equal(row.date) || r.restarts != row.series || len(entries) != row.entries {
				t.Errorf("on %s with series %+v and %d entries, %v", r.BillingDate, r.restarts, len(entries), err)
			}
			if row.entries > 0 && r.Status == Queued && !r.PublishAt.Equal(now) {
				t.Errorf("publish at %s", r.PublishAt)
			}
		})
	}
}

func TestRescheduleRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		r    Record
		to   time.Time
		kind fault.Kind
		key  string
	}{
		{"a charge that is under way", waits(func(r *Record) { r.Status = Requesting }), now.AddDate(0, 0, 9), fault.Conflict, "billingInProgress"},
		{"an order that was made", waits(func(r *Record) { r.Status = Success }), now.AddDate(0, 0, 9), fault.FailedPrecondition, "billingAttemptStatus"},
		{"a date in the past", waits(), now.Add(-11 * time.Minute), fault.Invalid, "billingDatePast"},
		{"a date beyond all plans", waits(), now.AddDate(6, 0, 0), fault.Invalid, "billingDateTooFar"},
		{"a date before the platform takes the charge", waits(opens(now.AddDate(0, 0, 1).Add(5 * time.Hour))), now.AddDate(0, 0, 1), fault.FailedPrecondition, "billingDateTooEarly"},
		{"an earlier date when another cycle was asked for", waits(func(r *Record) { r.opens = opening{contract: r.Contract, cycle: 2} }), now.AddDate(0, 0, 1), fault.Conflict, "changedMeanwhile"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			before := row.r
			_, err := reschedule(&row.r, RescheduleCommand{BillingDate: row.to, Future: true}, now)
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != row.kind || f.ErrorKey != row.key || row.r.Of.Series != before.Of.Series {
				t.Errorf("got %v, series %+v", err, row.r.Of.Series)
			}
		})
	}
}

func TestLaterOrdersFollowTheSeriesSaveThoseThatAPersonChose(t *testing.T) {
	t.Parallel()
	g := monthly()
	c := g.contract
	c.Series = contract.Series{Cycle: 4, Start: time.Date(2026, 5, 31, 14, 0, 0, 0, time.UTC), Moved: true}
	queue := func(cycle int, change ...func(*Attempt)) Attempt {
		return due(append([]func(*Attempt){func(a *Attempt) { a.Cycle, a.ID = cycle, AttemptID(cycle) }}, change...)...)
	}
	skipped := func(date time.Time) func(*Attempt) {
		return func(a *Attempt) { a.Status, a.BillingDate, a.DueAt = Skipped, date, time.Time{} }
	}
	moved := redated([]Attempt{
		queue(3), queue(4), queue(5), queue(6, func(a *Attempt) { a.Moved = true }), queue(7), queue(8, skipped(now.AddDate(0, 0, 1))), queue(9, skipped(now)),
	}, map[contract.ID]contract.Contract{c.ID: c}, g.calendar, now)
	var got string
	for _, a := range moved {
		got += fmt.Sprintf("%d on %s, due %t, told %t; ", a.Cycle, a.BillingDate.Format(time.DateOnly), a.DueAt.Equal(a.BillingDate), a.PublishAt.Equal(now))
	}
	if want := "5 on 2026-06-30, due true, told true; 7 on 2026-08-31, due true, told true; 8 on 2026-09-30, due false, told false; "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	c.Series.Moved = false
	for _, a := range redated([]Attempt{queue(5)}, map[contract.ID]contract.Contract{c.ID: c}, g.calendar, now) {
		if !a.PublishAt.IsZero() {
			t.Error("the platform is told of dates that are its own")
		}
	}
}

func TestNewOrdersOfAChosenSeriesAreTold(t *testing.T) {
	t.Parallel()
	g := monthly()
	for _, moved := range []bool{false, true} {
		g.contract.Series.Moved = moved
		for _, a := range fill(g.contract, Queue{LastCycle: 2}, g.calendar, now) {
			if a.PublishAt.IsZero() == moved {
				t.Errorf("chosen %t: told at %s", moved, a.PublishAt)
			}
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		status  Status
		note    string
		kind    fault.Kind // Internal: none
		entries int
	}{
		{"a note is replaced", Queued, "knock\n<b>", fault.Internal, 1},
		{"an empty note clears", Queued, "", fault.Internal, 1},
		{"the same note again changes nothing", Queued, "ring twice", fault.Internal, 0},
		{"a note of 5000 characters, not bytes", Queued, strings.Repeat("ü", MaxNote), fault.Internal, 1},
		{"a note that is too long", Queued, strings.Repeat("ü", MaxNote+1), fault.Invalid, 0},
		{"an order that was made", Success, "x", fault.FailedPrecondition, 0},
		{"an order that failed", Failure, "x", fault.FailedPrecondition, 0},
		{"an order that was skipped", Skipped, "ring twice", fault.FailedPrecondition, 0},
		{"an order that is being charged", Progress, "x", fault.Conflict, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := waits(func(r *Record) { r.Status, r.Note = row.status, "ring twice" })
			entries, err := setNote(&r, NoteCommand{Note: row.note}, now)
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

func TestTheNextOrderIsTheOneThatFallsDueFirst(t *testing.T) {
	t.Parallel()
	on := func(cycle, days int) Attempt {
		return due(func(a *Attempt) { a.Cycle, a.BillingDate = cycle, now.AddDate(0, 0, days) })
	}
	for _, row := range []struct {
		name  string
		queue []Attempt
		want  int
	}{
		{"none", nil, 0},
		{"by the date and not by the cycle", []Attempt{on(3, 40), on(4, 20), on(5, 30)}, 4},
		{"of two on one date the lower cycle", []Attempt{on(6, 20), on(4, 20), on(5, 20)}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if first, ok := Earliest(row.queue); first.Cycle != row.want || ok != (row.want > 0) {
				t.Errorf("cycle %d, %t", first.Cycle, ok)
			}
		})
	}
}
