package test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// days returns the days of the platform's orders of the contract, of renewals
// alone.
func (s *subscription) orderDays() (days []string) {
	s.t.Helper()
	for _, o := range s.orders() {
		if o.Contract == s.id {
			days = append(days, o.At.Format("01-02"))
		}
	}
	return days
}

func (s *subscription) skipNumber(n int) {
	s.t.Helper()
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", s.upcoming()[n].ID), nil)
}

func (s *subscription) everyTwoWeeks() {
	s.t.Helper()
	s.interval("WEEK", 2)
}

// Whatever people did to single orders before: after the interval changed, or the
// contract stood still for a while, no order that is due is forgotten, none that is
// skipped is charged, and none comes twice. The first order is due on November 11.
func TestCalendarChangesLoseAndRepeatNoOrder(t *testing.T) {
	t.Parallel()
	for _, row := range sample([]struct {
		name string
		do   func(s *subscription)
		want string // days of the orders until December 20
	}{
		{"the interval changes", func(s *subscription) { s.everyTwoWeeks() }, "[11-11 11-25 12-09]"},
		{"the second order was skipped, then the interval changes", func(s *subscription) { s.skipNumber(1); s.everyTwoWeeks() }, "[11-11 12-09]"},
		{"the first order was skipped, then the interval changes", func(s *subscription) { s.skipNumber(0); s.everyTwoWeeks() }, "[12-11]"},
		{"the second order was skipped, then the contract stood still", func(s *subscription) { s.skipNumber(1); s.standStill() }, "[11-11]"},
		{"the first order was skipped, then the contract stood still", func(s *subscription) { s.skipNumber(0); s.standStill() }, "[12-11]"},
		{"the first order was moved, then the interval changes", func(s *subscription) {
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=2026-11-08", s.id), nil)
			s.everyTwoWeeks()
		}, "[11-08 11-22 12-06 12-20]"},
		{"the first order is being charged, then the interval changes", func(s *subscription) {
			s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
			s.pass("P9DT22H") // the platform takes a charge a day before its date
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
			s.everyTwoWeeks()
		}, "[11-11 12-11]"}, // the next order keeps its date
		{"the contract stood still over its date", func(s *subscription) {
			s.status(http.StatusNoContent, "PAUSED")
			s.pass("P20D")
			s.status(http.StatusNoContent, "ACTIVE")
		}, "[12-11]"},
	}) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			row.do(s)
			until := time.Date(2026, 12, 20, 20, 0, 0, 0, time.UTC)
			s.call("POST", "/clock", map[string]any{"to": until}, nil)
			if got := fmt.Sprint(s.orderDays()); got != row.want {
				var list []struct{ EventType, Status, AdditionalInfo, CreateAt string }
				s.get("/activity-logs?size=100&sort=id,asc", &list)
				t.Logf("%+v", list)
				var cycles any
				s.call("GET", fmt.Sprintf("/platform/cycles?contractId=%d", s.id), nil, &cycles)
				t.Logf("%+v", cycles)
				t.Logf("%+v", s.upcoming())
				t.Errorf("orders on %s, want %s", got, row.want)
			}
		})
	}
}

// What people skip stays skipped when the calendar was moved so far that the platform's
// own cycles of those days are others.
func TestSkipsOfMovedCalendarSurvivePause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	s.skipNumber(1)
	s.skipNumber(1)
	s.reschedule(0, "2026-11-28", true)
	s.standStill()
	s.until("2026-12-20")
	s.wantOrderDays("[11-28 12-19]")
}

// A pause for some orders leaves out those that would have been made.
func TestPauseForOrdersDoesNotCountSkippedOnes(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	s.skipNumber(1) // of November 18
	s.status(http.StatusNoContent, "PAUSED", "pauseDurationCycle", "2")
	s.until("2026-12-10")
	s.wantOrderDays("[12-02 12-09]")
}

// The order that waits stays when the interval changes, with its number.
func TestIntervalChangeKeepsNextOrder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		every map[string]any // the interval before
		do    func(s *subscription)
		want  string
	}{
		{"soon after an order", map[string]any{"interval": "DAY", "intervalCount": 10}, func(s *subscription) {
			s.until("2026-11-13")
			s.interval("MONTH", 1)
		}, "[11-11 11-21 12-21]"},
		{"after its day, while it is put off", map[string]any{"interval": "MONTH", "intervalCount": 1}, func(s *subscription) {
			s.reschedule(0, "2026-11-15", false)
			s.until("2026-11-13")
			first := s.upcoming()[0].ID
			s.interval("DAY", 7)
			if next := s.upcoming()[0]; next.ID != first {
				s.t.Errorf("the order that waits is %d now and was %d", next.ID, first)
			}
		}, "[11-15 11-22 12-11 12-18 12-25]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"billingPolicy": row.every})
			s.t = t
			row.do(s)
			s.until("2026-12-31")
			s.wantOrderDays(row.want)
		})
	}
}

// What was said of one order stays with it when the interval changes.
func TestIntervalChangeKeepsNoteWithItsOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts-update-order-note/%d?orderNote=twice", first.ID), nil)
	s.everyTwoWeeks()
	if now := s.upcoming()[0]; now.ID != first.ID || now.OrderNote == nil || *now.OrderNote != "twice" {
		t.Errorf("the order is %+v now, was %+v", now, first)
	}
}

// A later order that is moved to the day of the next one, or before it, comes in
// addition to it.
func TestLaterOrderMovedToNextOrdersDayComesInAddition(t *testing.T) {
	t.Parallel()
	for _, future := range []bool{false, true} {
		t.Run(fmt.Sprint("and those after it ", future), func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.reschedule(1, "2026-11-11", future)
			s.until("2026-12-20")
			want := map[bool]string{false: "[11-11 11-11]", true: "[11-11 11-11 12-11]"}[future]
			s.wantOrderDays(want)
		})
	}
}

// A skip that is taken back leaves its order where the calendar has it by then.
func TestSkippedOrderFollowsCalendar(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	second := s.upcoming()[1]
	s.skipNumber(1)
	s.reschedule(0, "2026-11-28", true)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", second.ID), nil)
	s.until("2026-12-20")
	s.wantOrderDays("[11-28 12-05 12-12 12-19]")
}

// A date that an order was given before it was skipped is its date when the skip is taken
// back, also after a pause.
func TestSkippedOrderKeepsItsDateThroughPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	second := s.upcoming()[1]
	s.reschedule(1, "2026-12-20", false)
	s.skipNumber(1)
	s.standStill()
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", second.ID), nil)
	s.until("2027-01-12")
	s.wantOrderDays("[11-11 12-20 01-11]")
}

// An order that waits behind one that was made since comes on its day, and those that
// follow come after it, whatever rebuilds the queue. The orders are due on November 11,
// December 11 and so on.
func TestOrderBehindLaterOnesComesOnItsDay(t *testing.T) {
	t.Parallel()
	putOff := func(s *subscription) { s.reschedule(0, "2026-12-15", false); s.until("2026-12-12") }
	for _, row := range sample([]struct {
		name string
		do   func(s *subscription)
		want string // days of the orders until February 20
	}{
		{"the contract stands still", func(s *subscription) { putOff(s); s.standStill() }, "[12-11 12-15 01-11 02-11]"},
		{"it stands still twice", func(s *subscription) { putOff(s); s.standStill(); s.standStill() }, "[12-11 12-15 01-11 02-11]"},
		{"it is moved with those that follow", func(s *subscription) { putOff(s); s.reschedule(0, "2026-12-20", true) }, "[12-11 12-20 01-20 02-20]"},
		{"the interval changes, and the next order is skipped", func(s *subscription) { putOff(s); s.skipNumber(1); s.everyTwoWeeks() }, "[12-11 12-15 01-12 01-26 02-09]"},
		{"it was not put off: another one was brought forward", func(s *subscription) {
			s.reschedule(0, "2026-12-20", true)
			s.reschedule(2, "2027-01-15", false)
			s.until("2027-01-16")
			s.standStill()
		}, "[12-20 01-15 01-20]"},
	}) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			row.do(s)
			s.until("2027-02-20")
			s.wantOrderDays(row.want)
		})
	}
}

// An interval that changes in a pause after the day of an order is counted from the next
// one, as if the contract had run again before.
func TestIntervalChangeInPauseIgnoresPassedOrder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(s *subscription)
	}{
		{"it runs again first", func(s *subscription) { s.status(http.StatusNoContent, "ACTIVE"); s.everyTwoWeeks() }},
		{"it changes first", func(s *subscription) { s.everyTwoWeeks(); s.status(http.StatusNoContent, "ACTIVE") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.status(http.StatusNoContent, "PAUSED")
			s.until("2026-11-20")
			row.do(s)
			s.until("2027-01-10")
			s.wantOrderDays("[12-11 12-25 01-08]")
		})
	}
}

// The platform keeps dates that its cycles were given before the interval changed, when they
// were longer. They hold no order back.
func TestDatesOfOldIntervalDelayNoOrder(t *testing.T) {
	t.Parallel()
	twoWeeks := map[string]any{"interval": "WEEK", "intervalCount": 2}
	s := subscribe(t, map[string]any{"billingPolicy": twoWeeks, "deliveryPolicy": twoWeeks})
	s.reschedule(0, "2026-11-09", true) // each date that follows is published
	s.until("2026-11-24")
	s.reschedule(0, "2026-12-10", false)
	s.interval("DAY", 10)
	s.until("2027-02-10")
	s.wantOrderDays("[11-09 11-23 12-10 12-20 12-30 01-09 01-19 01-29 02-08]")
}

// An order that comes back before the one with which a new calendar begins, and that the
// platform takes only on a later day, brings no later order forward. Here it is the third,
// which was skipped: the fourth is on December 18, and so it stays.
func TestPostponedOrderMovesNoLaterOneForward(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.reschedule(1, "2026-11-20", false)
	s.until("2026-11-12")
	s.everyTwoWeeks()
	s.until("2026-11-21")
	third := s.upcoming()[0].ID
	s.skipNumber(0)
	s.interval("DAY", 5)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", third), nil)
	s.until("2026-12-05")
	wantDay(t, "the third order", &s.upcoming()[0].BillingDate, "2026-12-11T14:00:00Z")
	wantDay(t, "the fourth order", &s.upcoming()[1].BillingDate, "2026-12-18T14:00:00Z")
	s.until("2026-12-30")
	s.wantOrderDays("[11-11 11-20 12-11 12-18 12-23 12-28]")
}

// An order whose cycle the platform put off as a whole keeps its number, and its day: the
// platform takes the charge from the date on that the cycle was given before.
func TestOrderKeepsItsNumberWhenItsCycleIsLater(t *testing.T) {
	t.Parallel()
	weekly := map[string]any{"interval": "WEEK", "intervalCount": 1}
	s := subscribe(t, map[string]any{"billingPolicy": weekly, "deliveryPolicy": weekly})
	s.reschedule(0, "2026-11-10", true) // each date that follows is published
	for _, day := range []string{"2026-11-12", "2026-11-17"} {
		s.until(day)
		s.trigger(s.upcoming()[0].ID)
	}
	s.pass("PT1M")
	s.interval("MONTH", 2)
	s.reschedule(0, "2027-01-05", true)
	s.skipNumber(1)
	s.standStill()
	s.until("2027-08-01")
	s.wantOrderDays("[11-10 11-12 11-17 01-05 05-05 07-05]")
}

// After a pause the platform shows customers the next order that comes, not the one that
// passed meanwhile.
func TestPlatformShowsNextOrderAfterPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.status(http.StatusNoContent, "PAUSED")
	s.until("2026-11-20")
	s.status(http.StatusNoContent, "ACTIVE")
	s.pass("PT1H")
	var held struct{ NextBillingDate time.Time }
	s.call("GET", fmt.Sprintf("/platform/contracts/%d", s.id), nil, &held)
	if next := s.upcoming()[0].BillingDate; !held.NextBillingDate.Equal(next) {
		t.Errorf("the platform shows the next order on %s, want %s", held.NextBillingDate, next)
	}
}

// However many orders are put off, those that follow come on their days.
func TestPostponedOrdersDelayNoLaterOne(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	for n := range 6 {
		s.reschedule(0, fmt.Sprintf("2027-02-%02d", 20-n), false)
	}
	wantDay(t, "next order", s.row().NextBillingDate, "2026-12-23T14:00:00Z")
	s.until("2027-01-10")
	s.wantOrderDays("[12-23 12-30 01-06]")
}

// An order that has fallen due and waits, here for the end of the charge before it, is
// the order that waits when the interval changes.
func TestIntervalChangeKeepsDueOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.declines("CHALLENGE", 1)
	s.reschedule(0, "2026-12-10", false)
	s.until("2026-12-11")
	s.everyTwoWeeks()
	s.ended("SUCCESS")
	s.until("2026-12-26")
	s.wantOrderDays("[12-11 12-12 12-25]")
}

// So are all that have fallen due: one that was put off behind a later one is owed as
// well, and counts towards the limit, which is four orders here.
func TestIntervalChangeKeepsDueOrderBehindLaterOnes(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-max-cycles?contractId=%d&maxCycles=4", s.id), nil)
	s.declines("CHALLENGE", 1)
	s.reschedule(0, "2027-01-11", false)
	s.reschedule(0, "2027-01-12", false) // the second order, behind the third
	s.until("2027-01-12")
	s.everyTwoWeeks()
	s.ended("SUCCESS")
	s.until("2027-03-01")
	s.wantOrderDays("[01-12 01-12 01-13 01-25]")
}
