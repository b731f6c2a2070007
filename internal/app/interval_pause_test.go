package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// everyTwoWeeks is a change of both intervals.
func everyTwoWeeks() platform.Edit {
	weeks := platform.Policy{Interval: "WEEK", Count: 2}
	return platform.Edit{Billing: &weeks, Delivery: &weeks}
}

// One reading of a contract may show that it has another interval, and that it is
// paused. Its orders come as if each had been reported separately.
func TestIntervalAndPauseReadTogether(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(l *life)
		want string // days of the orders until March 1
	}{
		{"nothing was done", func(*life) {}, "[11-11 12-11 01-11 01-25 02-08 02-22]"},
		{"the next order was put off", func(l *life) { l.reschedule(0, "2027-01-14", false) }, "[11-11 12-11 01-14 01-28 02-11 02-25]"},
		{"the next order is skipped", func(l *life) { l.skip(0) }, "[11-11 12-11 02-11 02-25]"},
		{"it was put off behind the one that follows", func(l *life) { l.reschedule(0, "2027-02-20", false) }, "[11-11 12-11 02-11 02-25]"},
		{"the one that follows was put off", func(l *life) { l.reschedule(1, "2027-02-15", false) }, "[11-11 12-11 01-11 01-25 02-08 02-22]"},
		{"the one that follows was put before it", func(l *life) {
			l.reschedule(0, "2027-02-05", false)
			l.reschedule(0, "2027-01-20", false)
		}, "[11-11 12-11 01-20 02-03 02-17]"},
		{"an earlier one was put off", func(l *life) { l.reschedule(0, "2027-02-20", false); l.until("2027-02-12") }, "[11-11 12-11 02-11 02-20]"},
		{"an order was made early", func(l *life) { l.trigger(0) }, "[11-11 12-11 12-20 02-11 02-25]"},
	} {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprint(row.name, ", together ", together), func(t *testing.T) {
				t.Parallel()
				l := live(t)
				l.until("2026-12-20")
				row.do(l)
				l.pass(time.Minute)
				change := func() { l.elsewhere(everyTwoWeeks()); l.pass(time.Minute) }
				if together {
					l.unheard(change)
				} else {
					change()
				}
				l.statusElsewhere("PAUSED")
				l.pass(48 * time.Hour)
				l.statusElsewhere("ACTIVE")
				l.until("2027-03-01")
				l.wantOrders(row.want)
			})
		}
	}
}

// The same of the end of a pause.
func TestIntervalAndResumptionReadTogether(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(l *life)
		want string // days of the orders until February 25
	}{
		{"the day of the next order is to come", func(*life) {}, "[11-11 12-11 01-11 01-25 02-08 02-22]"},
		{"it was put off", func(l *life) { l.reschedule(0, "2027-01-14", false) }, "[11-11 12-11 01-14 01-28 02-11 02-25]"},
		{"the next order is skipped", func(l *life) { l.skip(0) }, "[11-11 12-11 02-11 02-25]"},
		{"it was put off behind the one that follows", func(l *life) { l.reschedule(0, "2027-02-20", false) }, "[11-11 12-11 02-11 02-25]"},
		{"its day passed in the pause", func(l *life) {
			l.status(contract.Paused)
			l.until("2027-01-15")
			l.status(contract.Active)
		}, "[11-11 12-11 02-11 02-25]"},
		{"an earlier one was put off", func(l *life) { l.reschedule(0, "2027-02-20", false); l.until("2027-02-12") }, "[11-11 12-11 02-11 02-20]"},
	} {
		for _, together := range []bool{false, true} {
			t.Run(fmt.Sprint(row.name, ", together ", together), func(t *testing.T) {
				t.Parallel()
				l := live(t)
				l.until("2026-12-20")
				row.do(l)
				l.status(contract.Paused)
				l.pass(48 * time.Hour)
				change := func() { l.elsewhere(everyTwoWeeks()); l.pass(time.Minute) }
				if together {
					l.unheard(change)
				} else {
					change()
				}
				l.statusElsewhere("ACTIVE")
				l.until("2027-02-25")
				l.wantOrders(row.want)
			})
		}
	}
}
