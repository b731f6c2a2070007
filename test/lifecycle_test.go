package test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// phase is what a story looks at in the row of a contract.
type phase struct {
	Status, SubscriptionType                                string
	NextBillingDate, PauseTillDate, PendingCancellationDate *time.Time
	TrialEndDate, BillingDateAfterTrial, EndsAt             *time.Time
	PauseDurationCycle, PendingCancellationCycle            *int
	PauseReason, PauseFeedback, CancellationFeedback        *string
	SubscriptionTypeIdentifier                              *string
}

func (s *subscription) phase() phase {
	s.t.Helper()
	var rows []phase
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	if len(rows) != 1 {
		s.t.Fatalf("%d contracts found by the number %d", len(rows), s.id)
	}
	return rows[0]
}

// status asks for a status and expects an answer.
func (s *subscription) status(want int, to string, more ...string) {
	s.t.Helper()
	q := url.Values{"contractId": {fmt.Sprint(s.id)}, "status": {to}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	s.refused(want, "PUT", "/subscription-contracts-update-status?"+q.Encode(), nil)
}

func (s *subscription) cancel(want int, more string) {
	s.t.Helper()
	s.refused(want, "DELETE", fmt.Sprintf("/subscription-contracts/%d?%s", s.id, more), nil)
}

// until lets time pass up to a day, at 20:00 UTC.
func (s *subscription) until(day string) {
	s.t.Helper()
	s.call("POST", "/clock", map[string]any{"to": day + "T20:00:00Z"}, nil)
}

// wantOrderDays asserts the days of the renewals of the contract.
func (s *subscription) wantOrderDays(want string) {
	s.t.Helper()
	if got := fmt.Sprint(s.orderDays()); got != want {
		s.t.Errorf("orders on %s, want %s", got, want)
	}
}

// wantPlatform asserts the status that the platform holds.
func (s *subscription) wantPlatform(want string) {
	s.t.Helper()
	if got := s.contract(s.id).Status; got != want {
		s.t.Errorf("the contract is %s at the platform, want %s", got, want)
	}
}

func wantDay(t *testing.T, what string, at *time.Time, want string) {
	t.Helper()
	got := "none"
	if at != nil {
		got = at.Format(time.RFC3339)
	}
	if got != want {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

const (
	paused    = api2 + "CONTRACT_PAUSED SUCCESS"
	scheduled = api2 + "AUTO_RESUME_SCHEDULED SUCCESS"
	activated = api2 + "CONTRACT_ACTIVATED SUCCESS"
	cancelled = api2 + "CONTRACT_CANCELLED SUCCESS"
	resumed   = "SYSTEM_EVENT CONTRACT_ACTIVATED SUCCESS"
	requeued  = "SYSTEM_EVENT UPDATE_QUEUED_ATTEMPTS INFO"
	grouped   = api2 + "SUBSCRIPTION_GROUP_PLAN_CREATE SUCCESS"
	tagged    = "SYSTEM_EVENT TAGS_UPDATED SUCCESS"
)

// The first order is due on November 11 at 14:00 UTC, 9:00 in New York.

func TestPauseWithDateEndsAutomatically(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.status(http.StatusBadRequest, "PAUSED", "pauseTillDate", "2026-10-01")
	s.status(http.StatusBadRequest, "PAUSED", "pauseTillDate", "2126-10-01")
	s.status(http.StatusBadRequest, "PAUSED", "pauseTillDate", "2026-12-20", "pauseDurationCycle", "1")
	s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2026-12-20", "pauseReason", "away", "pauseFeedback", "ski")
	c := s.phase()
	wantDay(t, "the end of the pause", c.PauseTillDate, "2026-12-20T05:00:00Z")
	if c.Status != "paused" || len(s.upcoming()) != 0 || c.PauseReason == nil || *c.PauseReason != "away" || c.PauseFeedback == nil || *c.PauseFeedback != "ski" || c.NextBillingDate != nil {
		t.Errorf("paused: %+v, and %d orders wait", c, len(s.upcoming()))
	}
	s.status(http.StatusBadRequest, "PAUSED", "pauseTillDate", "2026-12-24")
	s.until("2026-12-19")
	s.wantPlatform("PAUSED")
	s.until("2026-12-20")
	s.wantPlatform("ACTIVE")
	if c := s.phase(); c.Status != "active" || c.PauseTillDate != nil || c.PauseReason != nil || len(s.upcoming()) != 6 {
		t.Errorf("resumed: %+v, and %d orders wait", c, len(s.upcoming()))
	}
	s.until("2027-02-12")
	s.wantOrderDays("[01-11 02-11]")
	s.wantEntries(created, paused, scheduled, resumed, requeued, charged, charged)
}

func TestPauseForOrdersEndsOnTheNextOrdersMorning(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.status(http.StatusBadRequest, "PAUSED", "pauseDurationCycle", "366")
	s.status(http.StatusNoContent, "PAUSED", "pauseDurationCycle", "2")
	c := s.phase()
	wantDay(t, "the end of the pause", c.PauseTillDate, "2027-01-11T05:00:00Z")
	if c.PauseDurationCycle == nil || *c.PauseDurationCycle != 2 {
		t.Errorf("pauseDurationCycle %v, want 2", c.PauseDurationCycle)
	}
	s.until("2027-01-12")
	s.wantOrderDays("[01-11]")
	s.wantEntries(created, paused, scheduled, resumed, requeued, charged)
}

func TestActivationIsDeferredToADay(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.status(http.StatusBadRequest, "ACTIVE", "activationDate", "2026-12-01") // it is active
	s.status(http.StatusNoContent, "PAUSED")
	if c := s.phase(); c.PauseTillDate != nil {
		t.Errorf("the pause ends on %s and has no end", c.PauseTillDate)
	}
	s.status(http.StatusBadRequest, "ACTIVE", "activationDate", "2026-10-01")
	s.status(http.StatusBadRequest, "ACTIVE", "activationDate", "2126-10-01")
	s.status(http.StatusNoContent, "ACTIVE", "activationDate", "2026-12-05")
	s.status(http.StatusNoContent, "ACTIVE", "activationDate", "2026-12-01T12:00:00Z")
	c := s.phase()
	wantDay(t, "the activation", c.PauseTillDate, "2026-12-01T12:00:00Z")
	if c.Status != "paused" {
		t.Errorf("the contract is %s before its day", c.Status)
	}
	s.until("2026-12-12")
	s.wantOrderDays("[12-11]")
	deferred := api2 + "CONTRACT_ACTIVATION_DEFERRED SUCCESS"
	s.wantEntries(created, paused, deferred, deferred, resumed, requeued, charged)
}

func TestResumeRemovesScheduledEndOfPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2026-11-20")
	s.status(http.StatusNoContent, "ACTIVE")
	s.status(http.StatusNoContent, "PAUSED")
	s.until("2026-12-30")
	s.wantPlatform("PAUSED")
	s.wantOrderDays("[]")
	s.wantEntries(created, paused, scheduled, activated, paused)
}

// A date that a person chose for all later orders outlives a pause.
func TestChosenCalendarSurvivesPause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=2026-11-05", s.id), nil)
	s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2027-08-20")
	s.until("2027-10-06")
	s.wantOrderDays("[09-05 10-05]")
	s.wantEntries(created, api2+"NEXT_BILLING_DATE_CHANGE SUCCESS", paused, scheduled, resumed, requeued, charged, charged)
}

// So does the day of the month that a short month lacks, and the order that comes soon
// after one that was put off.
func TestCalendarContinuesAfterPause(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		first string
		do    func(s *subscription)
		want  string
	}{
		"at the end of months": {"2026-12-31", func(s *subscription) {
			s.until("2027-02-05")
			s.standStill()
			s.until("2027-05-05")
		}, "[12-31 01-31 02-28 03-31 04-30]"},
		"when its interval changes in a pause": {"2026-12-31", func(s *subscription) {
			s.until("2027-02-05")
			s.standStill()
			s.status(http.StatusNoContent, "PAUSED")
			s.interval("WEEK", 2)
			s.status(http.StatusNoContent, "ACTIVE")
			s.until("2027-03-30")
		}, "[12-31 01-31 02-28 03-14 03-28]"},
		"soon after an order that was put off": {"2026-11-11", func(s *subscription) {
			s.reschedule(0, "2026-12-05", false)
			s.until("2026-12-06")
			s.standStill()
			s.until("2027-01-20")
		}, "[12-05 12-11 01-11]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"nextBillingDate": row.first})
			s.t = t
			row.do(s)
			s.wantOrderDays(row.want)
		})
	}
}

// quarterly is a contract that is paid every three months and delivered every
// month. Its checkout was on November 1, at 12:00 UTC.
func quarterly(t *testing.T, more map[string]any) *subscription {
	t.Helper()
	change := map[string]any{
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
		"nextBillingDate": "2027-02-01",
	}
	for k, v := range more {
		change[k] = v
	}
	return subscribe(t, change)
}

const (
	endScheduled = api2 + "PREPAID_DEFERRED_CANCELLATION_SCHEDULED SUCCESS"
	endExecuted  = "SYSTEM_EVENT PREPAID_DEFERRED_CANCELLATION_EXECUTED SUCCESS"
	endCleared   = api2 + "PREPAID_DEFERRED_CANCELLATION_CLEARED SUCCESS"
	ended        = "SYSTEM_EVENT CONTRACT_CANCELLED SUCCESS"
	expired      = "SYSTEM_EVENT SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"
)

func TestPrepaidCancellationWaitsForEndOfTerm(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	s.cancel(http.StatusNoContent, "cancellationFeedback=too+much&cancellationNote=for+now")
	c := s.phase()
	wantDay(t, "the cancellation", c.PendingCancellationDate, "2027-02-01T14:00:00Z")
	wantDay(t, "the end", c.EndsAt, "2027-02-01T14:00:00Z")
	if c.Status != "active" || c.NextBillingDate != nil || len(s.upcoming()) != 0 || c.CancellationFeedback == nil || *c.CancellationFeedback != "too much" {
		t.Errorf("ending: %+v, and %d orders wait", c, len(s.upcoming()))
	}
	s.cancel(http.StatusBadRequest, "")
	s.until("2027-01-31")
	s.wantPlatform("ACTIVE")
	s.until("2027-02-01")
	s.wantPlatform("CANCELLED")
	if c := s.phase(); c.Status != "cancelled" || c.PendingCancellationDate != nil || c.CancellationFeedback == nil || *c.CancellationFeedback != "too much" {
		t.Errorf("ended: %+v", c)
	}
	s.until("2027-06-01")
	s.wantOrderDays("[]")
	s.wantEntries(created, endScheduled, endExecuted, ended)
}

// A payment that was skipped or put off makes no term longer.
func TestPrepaidContractEndsWithItsTermThoughNextPaymentMoved(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *subscription){
		"the next payment was skipped": func(s *subscription) { s.skipNumber(0) },
		"the next payment was moved":   func(s *subscription) { s.reschedule(0, "2027-03-15", false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quarterly(t, nil)
			s.t = t
			do(s)
			s.cancel(http.StatusNoContent, "")
			wantDay(t, "the cancellation", s.phase().PendingCancellationDate, "2027-02-01T14:00:00Z")
			s.until("2027-02-01")
			s.wantPlatform("CANCELLED")
			s.wantOrderDays("[]")
		})
	}
}

// An order that was skipped before a cancellation does not come back while that waits:
// nothing is paid any more, and certainly not on the day of the end.
func TestSkipAfterScheduledEndCannotBeUndone(t *testing.T) {
	t.Parallel()
	for name, which := range map[string]int{"the next payment": 0, "a later one": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quarterly(t, nil)
			s.t = t
			id := s.upcoming()[which].ID
			s.skipNumber(which)
			s.cancel(http.StatusNoContent, "")
			s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", id), nil)
			s.refused(http.StatusBadRequest, "PUT", "/subscription-billing-attempts", map[string]any{"id": id, "status": "QUEUED"})
			if c := s.phase(); c.NextBillingDate != nil || len(s.upcoming()) != 0 {
				t.Errorf("ending: %+v, and %d orders wait", c, len(s.upcoming()))
			}
			s.until("2027-03-01")
			s.wantPlatform("CANCELLED")
			s.wantOrderDays("[]")
		})
	}
	t.Run("beyond the last order of a contract", func(t *testing.T) {
		t.Parallel()
		s := subscribe(t, nil)
		id := s.upcoming()[4].ID
		s.skipNumber(4)
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-max-cycles?contractId=%d&maxCycles=3", s.id), nil)
		s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", id), nil)
		if n := len(s.upcoming()); n != 3 {
			t.Errorf("%d orders wait, want 3", n)
		}
	})
	t.Run("beyond the last order of a contract, at the platform", func(t *testing.T) {
		t.Parallel()
		s := subscribe(t, nil)
		s.skipNumber(4)
		limit := func(cycles int) {
			t.Helper()
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-max-cycles?contractId=%d&maxCycles=%d", s.id, cycles), nil)
		}
		limit(3)
		s.unskipThere(5)
		if n := len(s.upcoming()); n != 3 {
			t.Errorf("%d orders wait, want 3", n)
		}
		limit(5) // and it is none of a customer's any more
		if n := len(s.upcoming()); n != 5 {
			t.Errorf("%d orders wait, want 5", n)
		}
		s.until("2027-05-01")
		s.wantOrderDays("[11-11 12-11 01-11 02-11 03-11]")
		s.wantPlatform("EXPIRED")
	})
	t.Run("of a contract that ends with its term, at the platform", func(t *testing.T) {
		t.Parallel()
		s := quarterly(t, nil)
		s.skipNumber(2)
		s.cancel(http.StatusNoContent, "")
		s.unskipThere(3)
		if c := s.phase(); c.NextBillingDate != nil || len(s.upcoming()) != 0 {
			t.Errorf("ending: %+v, and %d orders wait", c, len(s.upcoming()))
		}
	})
	t.Run("when the cancellation is taken back", func(t *testing.T) {
		t.Parallel()
		s := quarterly(t, nil)
		id := s.upcoming()[0].ID
		s.skipNumber(0)
		s.cancel(http.StatusNoContent, "")
		s.status(http.StatusNoContent, "ACTIVE")
		s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", id), nil)
		s.until("2027-03-01")
		s.wantOrderDays("[02-01]")
	})
}

// unskipThere takes the skip of a cycle back at the platform, as its own staff would, once
// the platform has received the skip.
func (s *subscription) unskipThere(cycle int) {
	s.t.Helper()
	s.pass("PT1M")
	s.mutate(fmt.Sprintf(`mutation { subscriptionBillingCycleUnskip(billingCycleInput: { contractId: "gid://shopify/SubscriptionContract/%d", selector: { index: %d } }) { userErrors { message } } }`, s.id, cycle))
	s.pass("PT1M")
}

// The day that was announced stands, also where the next payment was to come before three
// months are over and is not shown any more.
func TestPrepaidContractEndsOnAnnouncedDay(t *testing.T) {
	t.Parallel()
	s := quarterly(t, map[string]any{"nextBillingDate": "2027-01-15"})
	const announced = "2027-01-15T14:00:00Z"
	s.wantPaid("before", announced)
	s.cancel(http.StatusNoContent, "")
	wantDay(t, "the cancellation", s.phase().PendingCancellationDate, announced)
	s.wantPaid("while it waits", announced)
	s.until("2027-01-15")
	s.wantPaid("afterwards", announced)
	s.wantPlatform("CANCELLED")
	s.wantOrderDays("[]")
	s.wantEntries(created, endScheduled, endExecuted, ended)
}

// wantPaid asserts until when the contract's customer has paid.
func (s *subscription) wantPaid(when, want string) {
	s.t.Helper()
	var c struct{ PaidThrough *time.Time }
	s.get(fmt.Sprintf("/subscription-customers/%d", s.payer(s.id)), &c)
	wantDay(s.t, when+", what is paid", c.PaidThrough, want)
}

func TestCancellationKeepsPaidDeliveries(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"nextBillingDate": "2026-11-20"})
	s.status(http.StatusNoContent, "CANCELLED")
	s.wantPaid("cancelled", "2026-11-20T14:00:00Z")
}

func TestScheduledCancellationCanBeUndone(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	s.skipNumber(1) // of May
	s.status(http.StatusNoContent, "CANCELLED")
	s.status(http.StatusNoContent, "ACTIVE")
	s.status(http.StatusBadRequest, "ACTIVE")
	c := s.phase()
	wantDay(t, "the next order", c.NextBillingDate, "2027-02-01T14:00:00Z")
	if c.PendingCancellationDate != nil || c.CancellationFeedback != nil {
		t.Errorf("kept on: %+v", c)
	}
	s.until("2027-11-02")
	s.wantOrderDays("[02-01 08-01 11-01]")
	s.wantEntries(created, skipped, endScheduled, endCleared, charged, charged, charged)
}

func TestPausedPrepaidContractEndsWithItsTermUnlessResumed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, status string
		then         func(s *subscription)
		entries      []string
	}{
		{"it ends", "CANCELLED", func(*subscription) {}, []string{endExecuted, ended}},
		{"it is resumed", "ACTIVE", func(s *subscription) { s.status(http.StatusNoContent, "ACTIVE") }, []string{activated, endCleared, charged}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := quarterly(t, nil)
			s.t = t
			s.status(http.StatusNoContent, "PAUSED")
			s.cancel(http.StatusNoContent, "")
			row.then(s)
			s.until("2027-02-02")
			s.wantPlatform(row.status)
			s.wantEntries(append([]string{created, paused, endScheduled}, row.entries...)...)
		})
	}
}

// The scheduled end of a pause does not undo a cancellation.
func TestEndOfPauseKeepsScheduledCancellation(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]struct {
		first, then func(s *subscription)
		entries     []string
	}{
		"paused and cancelled": {awayUntilJanuary, tooMuch, []string{paused, scheduled, endScheduled}},
		"cancelled and paused": {tooMuch, awayUntilJanuary, []string{endScheduled, paused, scheduled}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := quarterly(t, nil)
			s.t = t
			do.first(s)
			do.then(s)
			s.until("2027-01-15")
			c := s.phase()
			wantDay(t, "the cancellation", c.PendingCancellationDate, "2027-02-01T14:00:00Z")
			if c.Status != "active" || len(s.upcoming()) != 0 || c.CancellationFeedback == nil || *c.CancellationFeedback != "too much" {
				t.Errorf("resumed: %+v, and %d orders wait", c, len(s.upcoming()))
			}
			s.until("2027-06-01")
			s.wantPlatform("CANCELLED")
			s.wantOrderDays("[]")
			s.wantEntries(append(append([]string{created}, do.entries...), resumed, endExecuted, ended)...)
		})
	}
}

func awayUntilJanuary(s *subscription) {
	s.t.Helper()
	s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2027-01-10")
}

func tooMuch(s *subscription) {
	s.t.Helper()
	s.cancel(http.StatusNoContent, "cancellationFeedback=too+much")
}

// A subscriber who cancels does not owe an order that could not be charged before.
func TestUnpaidOrderIsNotChargedAfterCancellation(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.upcoming()[0].ID), nil)
	s.pass("PT1H")
	s.cancel(http.StatusNoContent, "")
	s.until("2027-06-01")
	s.wantPlatform("CANCELLED")
	s.wantOrderDays("[]")
	if past := s.past(); len(past) != 1 || past[0].Status != "FAILURE" {
		t.Errorf("past orders %+v, want one that was given up", past)
	}
}

func TestPrepaidContractIsCancelledAtOnceWithoutDeliveriesOrOnRequest(t *testing.T) {
	t.Parallel()
	s := quarterly(t, nil)
	s.cancel(http.StatusNoContent, "immediately=true")
	s.wantPlatform("CANCELLED")
	s.status(http.StatusBadRequest, "ACTIVE") // the platform does not let it start again
	if c := s.phase(); c.Status != "cancelled" {
		t.Errorf("the contract is %s", c.Status)
	}
	s.wantEntries(created, cancelled)

	s = quarterly(t, nil)
	s.cancel(http.StatusNoContent, "")
	s.cancel(http.StatusNoContent, "immediately=true")
	s.wantPlatform("CANCELLED")
	s.wantEntries(created, endScheduled, api2+"PREPAID_DEFERRED_CANCELLATION_EXECUTED SUCCESS", cancelled)

	s = quarterly(t, nil)
	s.until("2027-01-05") // after the third delivery, of January 1
	s.cancel(http.StatusNoContent, "")
	s.wantPlatform("CANCELLED")
	s.wantEntries(created, cancelled)
}

func TestContractExpiresAfterItsLastOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 2}})
	wantDay(t, "the end", s.phase().EndsAt, "2026-12-11T14:00:00Z")
	if n := len(s.upcoming()); n != 2 {
		t.Errorf("%d orders wait, want 2", n)
	}
	s.until("2026-12-10")
	s.wantPlatform("ACTIVE")
	s.until("2026-12-11")
	s.wantPlatform("EXPIRED")
	if c := s.phase(); c.Status != "expired" || c.NextBillingDate != nil {
		t.Errorf("expired: %+v", c)
	} else {
		wantDay(t, "the end that has come", c.EndsAt, "2026-12-11T14:00:02Z")
	}
	s.status(http.StatusBadRequest, "ACTIVE")
	s.until("2027-03-11")
	s.wantOrderDays("[11-11 12-11]")
	s.wantEntries(created, charged, charged, expired)
}

func TestChangedLimitMovesTheEnd(t *testing.T) {
	t.Parallel()
	limit := func(s *subscription, n int) {
		s.change("PUT", fmt.Sprintf("/subscription-contracts-update-max-cycles?contractId=%d&maxCycles=%d", s.id, n), nil)
	}
	s := subscribe(t, nil)
	limit(s, 1)
	if n := len(s.upcoming()); n != 1 {
		t.Errorf("%d orders wait, want 1", n)
	}
	limit(s, 3)
	if n := len(s.upcoming()); n != 3 {
		t.Errorf("%d orders wait, want 3", n)
	}
	s.until("2026-11-12")
	limit(s, 2)
	s.skipNumber(0) // the last one: nothing is left
	s.until("2026-11-12")
	s.wantPlatform("EXPIRED")
	s.wantOrderDays("[11-11]")
	updated := api2 + "SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"
	s.wantEntries(created, updated, updated, charged, updated, skipped, expired)
}

func TestPrepaidContractExpiresAfterItsLastDelivery(t *testing.T) {
	t.Parallel()
	s := quarterly(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3, "maxCycles": 1}})
	s.until("2027-03-31")
	s.wantPlatform("ACTIVE")
	wantDay(t, "the end", s.phase().EndsAt, "2027-04-01T13:00:00Z") // the third delivery, in summer time
	s.until("2027-04-01")
	s.wantPlatform("EXPIRED")
	s.wantOrderDays("[02-01]")
	s.wantEntries(created, charged, expired)
}

// A last order that was declined may still be paid for: the contract waits.
func TestContractWithPendingLastOrderDoesNotExpire(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 1}})
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CARD_DECLINED"}, nil)
	s.until("2026-11-11")
	s.wantPlatform("ACTIVE")
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", s.past()[0].ID), nil)
	s.until("2026-11-12")
	s.wantPlatform("EXPIRED")
	s.wantOrderDays("[11-11]")
	s.wantEntries(created, settled, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS", triggered, charged, expired)
}

// A contract that was paused for its last order runs again so that this is paid.
func TestReactivatedContractHasTimeForItsLastOrder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		do      func(s *subscription)
		still   string // the last day on which it runs, where that is to come
		orders  string
		entries []string
	}{
		{"it is paid", func(s *subscription) {
			if got := s.trigger(s.past()[0].ID); got != http.StatusOK {
				s.t.Errorf("charging it again answered %d", got)
			}
		}, "", "[11-20]", []string{triggered, charged, expired}},
		{"it is paid on another day", func(s *subscription) {
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2026-12-15", s.past()[0].ID), nil)
		}, "2026-12-14", "[12-15]", []string{api2 + "NEXT_BILLING_DATE_CHANGE SUCCESS", charged, expired}},
		{"it stays unpaid", func(*subscription) {}, "2026-12-02", "[]", []string{expired}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 1}})
			s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true, "dunning": map[string]any{"mode": "SIMPLE"}}, nil)
			s.declines("INSUFFICIENT_FUNDS", 1)
			s.until("2026-11-19")
			s.wantPlatform("PAUSED")
			s.status(http.StatusNoContent, "ACTIVE")
			s.until("2026-11-20")
			s.wantPlatform("ACTIVE")
			row.do(s)
			if row.still != "" {
				s.until(row.still)
				s.wantPlatform("ACTIVE")
			}
			s.pass("P1D")
			s.wantPlatform("EXPIRED")
			s.wantOrderDays(row.orders)
			s.wantEntries(append([]string{
				created, settled, declined, "SYSTEM_EVENT DUNNING_PAUSED SUCCESS", "SYSTEM_EVENT CONTRACT_PAUSED SUCCESS", "SYSTEM_EVENT SEND_SUSPENSION_EMAIL SUCCESS", activated,
			}, row.entries...)...)
		})
	}
}

// The platform may fail a contract, and let it run again.
func TestFailedContractIsNotChargedUntilActivated(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractFail(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { contract { id } userErrors { message } } }`, s.id))
	s.pass("PT1M")
	if c := s.phase(); c.Status != "failed" || len(s.upcoming()) != 0 {
		t.Errorf("failed: %+v, and %d orders wait", c, len(s.upcoming()))
	}
	s.status(http.StatusBadRequest, "PAUSED")
	s.until("2026-11-15")
	s.status(http.StatusNoContent, "ACTIVE")
	s.until("2026-12-12")
	s.wantOrderDays("[12-11]")
	s.wantEntries(created, "SHOPIFY_EVENT SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", activated, requeued, charged)
}

// planned makes a group with one option and returns the number of its selling plan.
func (s *subscription) planned(host string, option map[string]any) string {
	s.t.Helper()
	body := map[string]any{"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH"}
	for k, v := range option {
		body[k] = v
	}
	var made group
	if got := s.send("POST", host+planGroups, s.key, map[string]any{"groupName": "Club", "customerTag": "club", "subscriptionPlans": []any{body}}, &made); got != http.StatusCreated {
		s.t.Fatalf("making a group answered %d", got)
	}
	return made.Plans[0].IDNew
}

// on is the checkout of one piece on a selling plan.
func (s *subscription) on(plan string, more map[string]any) {
	s.t.Helper()
	change := map[string]any{
		"customer": map[string]any{"email": "gil@shopper.example", "firstName": "Gil", "lastName": "Old"}, "nextBillingDate": "2026-12-01",
		"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "9.00", "sellingPlanId": plan}},
	}
	for k, v := range more {
		change[k] = v
	}
	s.id = s.checkout(change)
	s.pass("PT1M")
}

// The checkout is on November 1.
func TestFreeTrialSetsFirstChargeDate(t *testing.T) {
	t.Parallel()
	days := func(n int, more map[string]any) map[string]any {
		o := map[string]any{"freeTrialEnabled": true, "freeTrialCount": n, "freeTrialInterval": "DAY"}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	first := map[string]any{"frequencyType": "ON_SPECIFIC_DAY", "specificDayEnabled": true, "specificDayValue": 1, "cutOff": 3}
	anchored := map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "anchors": []any{map[string]any{"type": "MONTHDAY", "day": 1}}}}
	for _, row := range []struct {
		name           string
		option, bought map[string]any
		trial, charge  string
		orders         string // until February 2
	}{
		{"it is shorter than the interval", days(14, nil), nil, "2026-11-15T14:00:00Z", "2026-11-15T14:00:00Z", "[11-15 12-15 01-15]"},
		{"it is longer than the interval", days(45, nil), nil, "2026-12-16T14:00:00Z", "2026-12-16T14:00:00Z", "[12-16 01-16]"},
		{"the date is kept", days(14, map[string]any{"keepOriginalNextBillingDateAfterTrial": true}), nil, "2026-11-15T14:00:00Z", "2026-12-01T14:00:00Z", "[12-01 01-01 02-01]"},
		{"the date is kept and within the trial", days(45, map[string]any{"keepOriginalNextBillingDateAfterTrial": true}), nil, "2026-12-16T14:00:00Z", "2027-01-01T14:00:00Z", "[01-01 02-01]"},
		{"orders fall on a fixed day", days(20, first), anchored, "2026-11-21T14:00:00Z", "2026-12-01T14:00:00Z", "[12-01 01-01 02-01]"},
		{"the cut-off of the fixed day has passed", days(28, first), anchored, "2026-11-29T14:00:00Z", "2027-01-01T14:00:00Z", "[01-01 02-01]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.cancel(http.StatusNoContent, "")
			s.on(s.planned(s.urls.Subscriptions, row.option), row.bought)
			c := s.phase()
			wantDay(t, "the end of the trial", c.TrialEndDate, row.trial)
			wantDay(t, "the first order after it", c.BillingDateAfterTrial, row.charge)
			wantDay(t, "the next order", c.NextBillingDate, row.charge)
			s.until("2027-02-02")
			s.wantOrderDays(row.orders)
			entries := []string{created, cancelled, grouped, created, tagged}
			for range s.orderDays() {
				entries = append(entries, charged)
			}
			s.wantEntries(entries...)
		})
	}
}

// What was bought on a plan has its trial, or is for life, though the plan is removed
// before the checkout is reported.
func TestRemovedPlanAppliesToEarlierCheckout(t *testing.T) {
	t.Parallel()
	remove := func(s *subscription, _ string) {
		var groups []group
		s.get("/subscription-groups", &groups)
		if got := s.delete(fmt.Sprintf("/subscription-groups/%d", groups[0].ID), nil); got != http.StatusNoContent {
			s.t.Fatalf("removing the group answered %d", got)
		}
	}
	change := func(s *subscription, _ string) {
		var groups []group
		s.get("/subscription-groups", &groups)
		other := map[string]any{"frequencyName": "Every week", "frequencyCount": 1, "frequencyInterval": "WEEK"}
		if got := s.put(fmt.Sprintf("/subscription-groups/%d", groups[0].ID), map[string]any{"subscriptionPlans": []any{other}}, nil); got != http.StatusOK {
			s.t.Fatalf("changing the group answered %d", got)
		}
	}
	for name, row := range map[string]struct {
		option map[string]any
		remove func(s *subscription, plan string)
		orders string // until February 2
	}{
		"the trial, and the group is removed": {map[string]any{"freeTrialEnabled": true, "freeTrialCount": 45, "freeTrialInterval": "DAY"}, remove, "[12-16 01-16]"},
		"the trial, and another plan is left": {map[string]any{"freeTrialEnabled": true, "freeTrialCount": 45, "freeTrialInterval": "DAY"}, change, "[12-16 01-16]"},
		"for life":                            {map[string]any{"lifeTimeMembership": true, "maxCycles": 1}, remove, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, nil)
			s.t = t
			s.cancel(http.StatusNoContent, "")
			plan := s.planned(s.urls.Subscriptions, row.option)
			s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"webhook_late"}, "seed": 7, "for": "PT1H"}, nil)
			s.on(plan, nil)
			row.remove(s, plan)
			s.until("2027-02-02")
			s.wantOrderDays(row.orders)
		})
	}
}

func TestLifetimeMembershipIsNeverRenewedOrPaused(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	subscriptions := s.urls.Subscriptions
	s.on(s.planned(s.urls.Memberships, map[string]any{"lifeTimeMembership": true, "maxCycles": 1}), map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 1}})
	s.urls.Subscriptions = s.urls.Memberships
	if c := s.phase(); c.Status != "active" || c.NextBillingDate != nil || c.EndsAt != nil || len(s.upcoming()) != 0 {
		t.Errorf("for life: %+v, and %d orders wait", c, len(s.upcoming()))
	}
	s.status(http.StatusBadRequest, "PAUSED")
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-upcoming-order?subscriptionContractId=%d", s.id), nil)
	s.until("2028-01-01")
	s.wantPlatform("ACTIVE")
	s.wantOrderDays("[]")
	s.cancel(http.StatusNoContent, "")
	s.wantPlatform("CANCELLED")
	s.pass("PT1M")
	const tier = "SYSTEM_EVENT INFORMATIONAL_EVENT SUCCESS"          // the e-mail that the customer reached a tier, by other orders
	s.wantEntries(grouped, created, tagged, tier, cancelled, tagged) // those of memberships alone
	s.urls.Subscriptions = subscriptions
}

func TestSplitOfLifetimeContractMakesTwoForLife(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	plan := s.planned(s.urls.Subscriptions, map[string]any{"lifeTimeMembership": true, "maxCycles": 1})
	s.id = s.checkout(map[string]any{"lines": []any{
		map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "12.50", "sellingPlanId": plan}, map[string]any{"variantId": 4002, "quantity": 1, "currentPrice": "5.00", "sellingPlanId": plan},
	}})
	s.pass("PT1M")
	line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[1].ID
	split := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=", s.id)
	s.refused(http.StatusBadRequest, "POST", split+"false", []string{line})
	s.refused(http.StatusBadRequest, "POST", split+"true&attemptBilling=true", []string{line})
	whole, off := s.id, s.change("POST", split+"true", []string{line}).ID
	s.follow(off)
	if s.phase().Status != "active" || len(s.upcoming()) != 0 {
		t.Errorf("split off: %+v, and %d orders wait", s.phase(), len(s.upcoming()))
	}
	s.until("2027-03-01")
	for _, s.id = range []int64{s.id, whole} {
		s.wantPlatform("ACTIVE")
		s.wantOrderDays("[]")
	}
}

// Whichever answers are lost: what was asked for is done in the end, once, and with
// all that was said of it.
func TestStatusChangeSurvivesLostAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"timeout_after", "timeout_before"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, nil)
			s.t = t
			lose := func() {
				s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{kind}, "seed": 1}, nil)
			}
			calm := func() { s.call("DELETE", "/platform/faults", nil, nil); s.pass("PT5M") }
			lose()
			s.status(http.StatusServiceUnavailable, "PAUSED", "pauseTillDate", "2026-11-20", "pauseReason", "away")
			s.status(http.StatusConflict, "CANCELLED")                                // one after the other
			s.status(http.StatusServiceUnavailable, "PAUSED", "pauseReason", "bored") // the same again is no second pause
			calm()
			c := s.phase()
			wantDay(t, "the end of the pause", c.PauseTillDate, "2026-11-20T05:00:00Z")
			if c.Status != "paused" || c.PauseReason == nil || *c.PauseReason != "away" {
				t.Errorf("paused: %+v", c)
			}
			s.call("POST", "/clock", map[string]any{"to": "2026-11-20T04:59:00Z"}, nil)
			lose()
			s.pass("PT3M") // the pause ends on a platform that does not answer
			calm()
			s.wantPlatform("ACTIVE")
			s.cancelLost(lose, calm)
			s.until("2027-02-01")
			s.wantOrderDays("[]")
			s.wantEntries(created, paused, scheduled, resumed, requeued, cancelled)
		})
	}
}

// cancelLost cancels the contract while every answer is lost.
func (s *subscription) cancelLost(lose, calm func()) {
	s.t.Helper()
	lose()
	s.cancel(http.StatusServiceUnavailable, "cancellationFeedback=enough")
	calm()
	s.wantPlatform("CANCELLED")
	if c := s.phase(); c.CancellationFeedback == nil || *c.CancellationFeedback != "enough" {
		s.t.Errorf("cancelled: %+v", c)
	}
}
