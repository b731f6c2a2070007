package app

import (
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/amend/lifecycle"
	"github.com/perennialhq/perennial/internal/domain/cadence"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// Orders before the one with which "this and later" begins keep their dates, whatever
// refills the queue. They are due on November 11, December 11 and so on.
func TestOrdersBeforeMovedCalendarKeepTheirDates(t *testing.T) {
	t.Parallel()
	after := "[11-11 12-11 01-15 02-15]"
	for _, row := range []struct {
		name string
		do   func(l *life)
		want string
	}{
		{"it stood still", (*life).standStill, after},
		{"it stood still at the platform", func(l *life) { l.statusElsewhere("PAUSED"); l.pass(time.Minute); l.statusElsewhere("ACTIVE") }, after},
		{"it stood still over the first date", func(l *life) {
			l.status(contract.Paused)
			l.until("2026-11-20")
			l.status(contract.Active)
		}, "[12-11 01-15 02-15]"},
		{"it stood still until a day", func(l *life) {
			l.change(lifecycle.StatusChange{To: contract.Paused, Until: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)})
		}, "[12-11 01-15 02-15]"},
		{"it stood still for one order", func(l *life) {
			l.change(lifecycle.StatusChange{To: contract.Paused, Cycles: 1})
		}, "[12-11 01-15 02-15]"},
		{"and again with an earlier order", func(l *life) { l.reschedule(1, "2026-12-20", true); l.standStill() }, "[11-11 12-20 01-15 02-20]"},
		{"and again with a later one", func(l *life) { l.reschedule(3, "2027-02-20", true); l.standStill() }, "[11-11 12-11 01-15 02-20]"},
		{"it ends with three orders", func(l *life) {
			l.maxCycles(3)
			l.standStill()
		}, "[11-11 12-11 01-15]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := live(t)
			l.reschedule(2, "2027-01-15", true)
			row.do(l)
			l.until("2027-02-25")
			l.wantOrders(row.want)
		})
	}
}

// "This and later" may let the calendar go on before an order that it leaves where it is:
// here those after the first go by the 15th, and the second waits for December 25. After
// a pause over the day of the order that was moved both go on.
func TestMovedCalendarContinuesAfterPause(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(l *life) // the pause
		until  string        // its end
		after  func(l *life) // when it could end
		want   string
	}{
		{"before that day", nil, "2026-12-14", nil, "[11-25 12-15 12-25 01-15 02-15]"},
		{"over that day", nil, "2026-12-17", nil, "[11-25 12-25 01-15 02-15]"},
		{"over both days", nil, "2026-12-27", nil, "[11-25 01-15 02-15]"},
		{"the order that was left is skipped", func(l *life) { l.skip(1) }, "2026-12-17", nil, "[11-25 01-15 02-15]"},
		{"it is put off behind the next one", func(l *life) { l.reschedule(1, "2027-01-20", false) }, "2026-12-17", nil, "[11-25 01-15 01-20 02-15]"},
		{"the interval changes", nil, "2026-12-17", func(l *life) { l.interval(cadence.Week, 2) }, "[11-25 12-25 01-08 01-22 02-05 02-19]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := live(t)
			l.reschedule(0, "2026-11-25", true)
			l.until("2026-12-12")
			l.reschedule(1, "2026-12-15", true)
			if row.before != nil {
				row.before(l)
			}
			l.status(contract.Paused)
			l.until(row.until)
			if row.after != nil {
				row.after(l)
			}
			l.status(contract.Active)
			l.until("2027-02-25")
			l.wantOrders(row.want)
		})
	}
}

// An interval that changes while the contract stands still is counted from the next
// order, as one is that changes while it runs.
func TestNextOrderStaysWhenIntervalChangesDuringPause(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(l *life)
		want string // days of the orders until February 25
	}{
		{"after two orders", func(*life) {}, "[11-11 12-11 01-11 01-25 02-08 02-22]"},
		{"the one after it is skipped", func(l *life) { l.skip(1) }, "[11-11 12-11 01-11 02-08 02-22]"},
		{"it was put off", func(l *life) { l.reschedule(0, "2027-01-14", false) }, "[11-11 12-11 01-14 01-28 02-11 02-25]"},
		{"it was put off behind the one that follows", func(l *life) { l.reschedule(0, "2027-02-20", false) }, "[11-11 12-11 02-11 02-25]"},
		{"it was put off to the day of the one that follows, and the one after that is skipped", func(l *life) {
			l.reschedule(0, "2027-02-11", false)
			l.skip(2)
		}, "[11-11 12-11 02-11 02-25]"},
		{"it was put off behind the day of one more than are allowed", func(l *life) {
			l.maxCycles(3)
			l.reschedule(0, "2027-02-20", false)
		}, "[11-11 12-11 02-20]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := live(t)
			l.until("2026-12-20")
			row.do(l)
			l.status(contract.Paused)
			l.interval(cadence.Week, 2)
			l.status(contract.Active)
			l.until("2027-02-25")
			l.wantOrders(row.want)
		})
	}
}

// An order that people put off past its own day, and past the contract's pause, is made
// on the day that they chose. The orders are due on November 11, December 11 and so on.
func TestPostponedOrderOutlivesPauseAfterItsOwnDay(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(l *life)
		want string
	}{
		{"at once", func(l *life) { l.until("2026-11-13"); l.standStill() }, "[11-25 12-11 01-11]"},
		{"twice", func(l *life) { l.until("2026-11-13"); l.standStill(); l.standStill() }, "[11-25 12-11 01-11]"},
		{"over its own day", func(l *life) {
			l.status(contract.Paused)
			l.until("2026-11-13")
			l.status(contract.Active)
		}, "[11-25 12-11 01-11]"},
		{"at the platform", func(l *life) {
			l.until("2026-11-13")
			l.statusElsewhere("PAUSED")
			l.pass(time.Minute)
			l.statusElsewhere("ACTIVE")
		}, "[11-25 12-11 01-11]"},
		{"over the day that was chosen", func(l *life) {
			l.until("2026-11-13")
			l.status(contract.Paused)
			l.until("2026-11-28")
			l.status(contract.Active)
		}, "[12-11 01-11]"},
		{"behind the next order", func(l *life) {
			l.reschedule(0, "2026-12-15", false)
			l.until("2026-11-13")
			l.standStill()
		}, "[12-11 12-15 01-11]"},
		{"behind the next order, which passes meanwhile", func(l *life) {
			l.reschedule(0, "2026-12-15", false)
			l.until("2026-11-13")
			l.status(contract.Paused)
			l.until("2026-12-13")
			l.status(contract.Active)
		}, "[12-15 01-11]"},
		{"skipped", func(l *life) {
			l.until("2026-11-13")
			l.skip(0)
			l.standStill()
		}, "[12-11 01-11]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := live(t)
			l.reschedule(0, "2026-11-25", false)
			row.do(l)
			l.until("2027-01-20")
			l.wantOrders(row.want)
		})
	}
}

// maxCycles counts orders. The platform's cycles that another calendar jumps over,
// or a pause, are none.
func TestContractEndsAfterMaxCyclesWhateverItsCalendar(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		unit string
		most int
		next string
		do   func(l *life)
		want string
	}{
		{"all orders are moved, and it stands still", "DAY", 2, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-11-08", true)
			l.standStill()
		}, "[11-08 11-09]"},
		{"all orders are moved, and the interval changes", "DAY", 2, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-11-08", true)
			l.interval(cadence.Day, 2)
		}, "[11-08 11-10]"},
		{"it stands still twice", "DAY", 2, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-11-08", true)
			l.standStill()
			l.standStill()
		}, "[11-08 11-09]"},
		{"the interval becomes longer after the first order", "WEEK", 3, "2026-11-05", func(l *life) {
			l.until("2026-11-06")
			l.interval(cadence.Week, 3)
		}, "[11-05 11-12 12-03]"},
		{"one order is moved, and the interval changes", "MONTH", 2, "2026-11-30", func(l *life) {
			l.reschedule(0, "2026-12-10", false)
			l.interval(cadence.Week, 2)
		}, "[12-10 12-24]"},
		{"it was paused over its dates", "MONTH", 2, "2026-11-11", func(l *life) {
			l.change(lifecycle.StatusChange{To: contract.Paused, Until: time.Date(2027, 1, 15, 5, 0, 0, 0, time.UTC)})
		}, "[02-11 03-11]"},
		{"one order waits behind those that follow it, and it stands still", "DAY", 4, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-12-01", false)
			l.until("2026-11-07")
			l.standStill()
		}, "[11-04 11-05 11-06 12-01]"},
		{"one order waits behind those that follow it, and the interval changes in a pause", "DAY", 5, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-12-01", false)
			l.until("2026-11-06")
			l.status(contract.Paused)
			l.interval(cadence.Day, 2)
			l.status(contract.Active)
		}, "[11-04 11-05 11-06 11-07 11-09]"},
		{"one order waits behind those that follow it, and the interval changes", "DAY", 4, "2026-11-03", func(l *life) {
			l.reschedule(0, "2026-12-01", false)
			l.until("2026-11-07")
			l.interval(cadence.Day, 2)
		}, "[11-04 11-05 11-06 12-01]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := liveOn(t, row.next, simulator.PolicySpec{Interval: row.unit, IntervalCount: 1, MaxCycles: row.most})
			row.do(l)
			l.until("2027-05-01")
			l.wantOrders(row.want)
			if status := l.contract().Status; status != contract.Expired {
				t.Errorf("after its last order the contract is %s", status)
			}
		})
	}
}
