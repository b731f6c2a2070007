package test

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"
)

func TestRowShowsLastQueueChange(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	changed := func() time.Time {
		t.Helper()
		var rows []struct{ QueueUpdatedAt *time.Time }
		s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
		if rows[0].QueueUpdatedAt == nil {
			return time.Time{}
		}
		return *rows[0].QueueUpdatedAt
	}
	last := changed()
	if last.IsZero() {
		t.Error("nothing says when the queue was made")
	}
	first := s.upcoming()[0].ID
	const orders = "/subscription-billing-attempts"
	contract := func(path, more string) string { return fmt.Sprintf("%s?contractId=%d%s", path, s.id, more) }
	for _, row := range []struct {
		name, path string
		queue      bool // whether it changes the queue
	}{
		{"a skip", fmt.Sprintf("%s/skip-order/%d", orders, first), true},
		{"its end", fmt.Sprintf("%s/unskip-order/%d", orders, first), true},
		{"another date", fmt.Sprintf("%s/reschedule-order/%d?billingDate=2026-11-20", orders, first), true},
		{"a note", fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=ring", s.id), false},
		{"a pause", contract("/subscription-contracts-update-status", "&status=PAUSED"), true},
		{"its end", contract("/subscription-contracts-update-status", "&status=ACTIVE"), true},
		{"another interval", contract("/subscription-contracts-update-billing-interval", "&interval=WEEK&intervalCount=2"), true},
		{"a limit that drops orders", contract("/subscription-contracts-update-max-cycles", "&maxCycles=2"), true},
	} {
		s.pass("PT1H")
		if got := s.put(row.path, nil, nil); got >= 300 {
			t.Fatalf("%s answered %d", row.name, got)
		}
		if at := changed(); at.After(last) != row.queue {
			t.Errorf("%s: the queue changed at %s, before that at %s", row.name, at, last)
		}
		last = changed()
	}
}

func TestContractCreatedOnPlanStartsWithTrial(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	trial := s.planned(s.urls.Subscriptions, map[string]any{"freeTrialEnabled": true, "freeTrialCount": 14, "freeTrialInterval": "DAY"})
	plain := s.planned(s.urls.Subscriptions, nil)
	kept := s.planned(s.urls.Subscriptions, map[string]any{"freeTrialEnabled": true, "freeTrialCount": 14, "freeTrialInterval": "DAY", "keepOriginalNextBillingDateAfterTrial": true})
	var customer []struct{ CustomerID int64 }
	s.get("/subscription-contract-details?size=1", &customer)
	body := func(plan string, more map[string]any) map[string]any {
		b := map[string]any{
			"customerId": customer[0].CustomerID, "billingIntervalType": "MONTH", "billingIntervalCount": 1, "deliveryAddress1": "12 Mill Lane", "deliveryCity": "Reno", "deliveryCountryCode": "US", "deliveryProvinceCode": "NV",
			"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "sellingPlanId": plan}},
		}
		maps.Copy(b, more)
		return b
	}
	const path = "/subscription-contract-details/create-subscription-contract"
	made := func(plan string, more map[string]any) phase {
		t.Helper()
		var o object
		if got := s.post(path, body(plan, more), &o); got != http.StatusCreated {
			t.Fatalf("making a contract answered %d", got)
		}
		s.follow(o.ID)
		return s.phase()
	}

	c := made(trial, nil)
	wantDay(t, "the end of the trial", c.TrialEndDate, "2026-11-15T14:00:00Z")
	wantDay(t, "the first order after it", c.BillingDateAfterTrial, "2026-11-15T14:00:00Z")
	wantDay(t, "the next order", c.NextBillingDate, "2026-11-15T14:00:00Z")
	first := s.id

	c = made(kept, nil)
	wantDay(t, "the end of the trial", c.TrialEndDate, "2026-11-15T14:00:00Z")
	wantDay(t, "the first order after it", c.BillingDateAfterTrial, "2026-12-01T14:00:00Z")
	wantDay(t, "the next order", c.NextBillingDate, "2026-12-01T14:00:00Z")

	c = made(trial, map[string]any{"nextBillingDate": "2026-11-05"})
	if c.TrialEndDate != nil || c.BillingDateAfterTrial != nil {
		t.Errorf("charged on a day that was named: %+v, want no trial", c)
	}
	wantDay(t, "the next order", c.NextBillingDate, "2026-11-05T14:00:00Z")

	if got := s.demand("POST", path, s.key, body(plain, nil)); got.status != http.StatusBadRequest {
		t.Errorf("without a date and a trial: answered %d", got.status)
	}
	s.id = first
	s.until("2026-12-16")
	s.wantOrderDays("[11-15 12-15]")
}

// What is free is the trial. The order that ends it is paid, as it is after a checkout,
// and so is what is added to it.
func TestOrderAfterFreeTrialIsPaid(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]map[string]any{
		"at the price of the plan": {"variantId": 4001, "quantity": 1},
		"at a price that is said":  {"variantId": 4001, "quantity": 1, "currentPrice": "16.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			line := maps.Clone(line)
			line["sellingPlanId"] = s.planned(s.urls.Subscriptions, map[string]any{"freeTrialEnabled": true, "freeTrialCount": 14, "freeTrialInterval": "DAY"})
			var customer []struct{ CustomerID int64 }
			s.get("/subscription-contract-details?size=1", &customer)
			var o object
			if got := s.post("/subscription-contract-details/create-subscription-contract", map[string]any{
				"customerId": customer[0].CustomerID, "billingIntervalType": "MONTH", "billingIntervalCount": 1, "deliveryAddress1": "12 Mill Lane", "deliveryCity": "Reno",
				"deliveryCountryCode": "US", "deliveryProvinceCode": "NV", "lines": []any{line},
			}, &o); got != http.StatusCreated {
				t.Fatalf("making a contract answered %d", got)
			}
			s.follow(o.ID)
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=4003&quantity=1", s.id), nil)
			s.until("2026-12-16")
			s.wantAmounts("55.00", "55.00")
		})
	}
}

func TestRowNamesPlanAndCustomerTag(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.on(s.planned(s.urls.Subscriptions, nil), nil)
	want := func(when string, tag any) {
		t.Helper()
		var rows []struct {
			CustomerTag any
			Lines       []struct{ SellingPlanName string } `json:"contractDetailsJson"`
			Text        string                             `json:"contractDetailsJSON"`
		}
		s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
		if lines := rows[0].Lines; rows[0].CustomerTag != tag || len(lines) != 1 || lines[0].SellingPlanName != "Every month" {
			t.Errorf("%s: %+v, want the tag %v and the plan's name", when, rows[0], tag)
		}
	}
	want("bought", "club")
	v := s.variants()
	s.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d", s.id, v[0], v[1]), nil)
	want("with another variant", "club")
	s.status(http.StatusNoContent, "PAUSED")
	want("paused", nil)
}
