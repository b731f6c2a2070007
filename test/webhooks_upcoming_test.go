package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

const upcomingOrder = "subscription.upcoming-order-notification"

// announces asserts that a webhook announces an attempt, so long before its date.
func (a arrived) announces(t *testing.T, id int64, before time.Duration) {
	t.Helper()
	m := a.says(t)
	var record struct {
		ID          int64
		Status      string
		BillingDate time.Time `json:"billingDate"`
	}
	if err := json.Unmarshal(m.Data, &record); err != nil || record.ID != id || record.Status != "QUEUED" || record.BillingDate.Sub(m.Timestamp) != before {
		t.Errorf("at %s it announces %+v, %v; want attempt %d, %s before", m.Timestamp, record, err, id, before)
	}
}

func TestWebhooksAnnounceEveryOrderOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, upcomingOrder, "subscription.billing-success")
	other := listen(s, "membership.upcoming-order-notification")
	first := s.upcoming()[0]
	s.pass("P6D")
	r.wantTypes()
	s.pass("P2D")
	list := r.wantTypes(upcomingOrder)
	list[0].announces(t, first.ID, 3*24*time.Hour)
	var records []json.RawMessage
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &records)
	if !same(t, unmailed(list[0].says(t).Data), unmailed(records[0])) {
		t.Errorf("got\n%s\nand the interface answers\n%s", list[0].says(t).Data, records[0])
	}
	s.pass("P3D")
	r.wantTypes(upcomingOrder, "subscription.billing-success")
	second := s.upcoming()[0]
	s.pass("P31D")
	list = r.wantTypes(upcomingOrder, "subscription.billing-success", upcomingOrder, "subscription.billing-success")
	list[2].announces(t, second.ID, 3*24*time.Hour)
	if len(other.messages()) != 0 {
		t.Error("another line got a message")
	}
}

func TestWebhooksAnnounceNoSkippedOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	skipped, paused := s.id, s.checkout(nil)
	weekly := s.checkout(map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	cancelled := s.checkout(nil)
	r := listen(s, upcomingOrder)
	on := func(contract int64, method, path string) {
		t.Helper()
		want(t, s.demand(method, fmt.Sprintf(path, contract), s.key, nil), http.StatusOK, "")
	}
	status := func(contract int64, to string) {
		t.Helper()
		want(t, s.demand("PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", contract, to), s.key, nil), http.StatusNoContent, "")
	}
	next := s.upcoming()[0]
	on(next.ID, "PUT", fmt.Sprintf("/subscription-billing-attempts/skip-order/%%d?subscriptionContractId=%d", skipped))
	status(paused, "PAUSED")
	status(cancelled, "CANCELLED")
	s.pass("P8D")
	r.wantTypes()
	s.pass("P1DT3H")
	s.id = weekly
	list := r.wantTypes(upcomingOrder)
	list[0].announces(t, s.upcoming()[0].ID, 24*time.Hour)
	s.id = paused
	status(paused, "ACTIVE") // its order is due in less than a day: it is announced at once, and only once
	r.wantTypes(upcomingOrder, upcomingOrder)
	status(paused, "PAUSED")
	status(paused, "ACTIVE")
	r.wantTypes(upcomingOrder, upcomingOrder)
}

func TestWebhooksAnnounceMovedOrderOnItsNewDay(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	r := listen(s, upcomingOrder)
	first := s.upcoming()[0]
	move := func(days int) {
		t.Helper()
		day := first.BillingDate.AddDate(0, 0, days).Format(time.DateOnly)
		path := fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=%s&rescheduleFutureOrder=false", first.ID, day)
		want(t, s.demand("PUT", path, s.key, nil), http.StatusOK, "")
	}
	move(4)
	s.pass("P10D")
	r.wantTypes()
	s.pass("P2D")
	r.wantTypes(upcomingOrder)[0].announces(t, first.ID, 3*24*time.Hour)
	move(10) // it was announced already
	s.pass("P7D")
	r.wantTypes(upcomingOrder)
}

func TestLateEndpointGetsUpcomingOrders(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.pass("P9D") // no endpoint exists yet
	r := listen(s, upcomingOrder)
	order := s.upcoming()[0]
	r.wantTypes(upcomingOrder)[0].announces(t, order.ID, order.BillingDate.Sub(s.now()))
	s.pass("P20D")
	r.wantTypes(upcomingOrder)
}
