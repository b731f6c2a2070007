package test

import (
	"fmt"
	"net/http"
	"path"
	"testing"
)

// take puts the contract on a plan, with its intervals and its fixed days.
func (s *subscription) take(plan string) {
	s.t.Helper()
	s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-contracts-update-frequency-by-selling-plan?contractId=%d&sellingPlanId=%s", s.id, plan), nil)
}

// fixed is an option of every month on a day.
func fixed(day, cutoff int) map[string]any {
	return map[string]any{"frequencyType": "ON_SPECIFIC_DAY", "specificDayEnabled": true, "specificDayValue": day, "cutOff": cutoff}
}

// A contract that takes another plan gets its orders on the days of that plan, none twice and
// none before the order that waited. It is November 1, and the next order was due on
// December 1.
func TestPlanChangeAppliesAnchors(t *testing.T) {
	t.Parallel()
	const (
		product  = api2 + "PRODUCT_SELLING_PLAN_CHANGE SUCCESS"
		billed   = api2 + "BILLING_INTERVAL_CHANGE SUCCESS"
		sent     = api2 + "DELIVERY_INTERVAL_CHANGE SUCCESS"
		monthEnd = "2027-02-16"
	)
	onFirst := map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "anchors": []any{map[string]any{"type": "MONTHDAY", "day": 1}}}}
	moved := []string{product, billed, sent}
	for _, row := range []struct {
		name    string
		bought  map[string]any // in addition to the monthly plan
		is, to  map[string]any // the options
		do      func(s *subscription, plan string)
		orders  string
		entries []string // after the contract is made
	}{
		{"from no fixed day to one", nil, nil, fixed(15, 0), (*subscription).take, "[12-15 01-15 02-15]", append(moved, charged, charged, charged)},
		{"from one fixed day to another", onFirst, fixed(1, 0), fixed(20, 0), (*subscription).take, "[12-20 01-20]", append(moved, charged, charged)},
		{"to the days of a week", nil, nil, map[string]any{
			"frequencyCount": 4, "frequencyInterval": "WEEK", "frequencyType": "ON_SPECIFIC_DAY", "specificDayEnabled": true, "specificDayValue": 3,
		}, (*subscription).take, "[12-02 12-30 01-27]", append(moved, charged, charged, charged)},
		{"to a day whose cut-off has passed", nil, nil, fixed(15, 44), (*subscription).take, "[01-15 02-15]", append(moved, charged, charged)},
		{"to the day on which the order waits, though its cut-off has passed", nil, nil, fixed(1, 40), (*subscription).take, "[12-01 01-01 02-01]", append(moved, charged, charged, charged)},
		{"from a fixed day to none: the order that waits stays", onFirst, fixed(1, 0), nil, (*subscription).take, "[12-01 01-01 02-01]", append(moved, charged, charged, charged)},
		{"after an order", nil, nil, fixed(15, 0), func(s *subscription, plan string) { s.until("2026-12-02"); s.take(plan) },
			"[12-01 01-15 02-15]", append(append([]string{charged}, moved...), charged, charged)},
		{"while it stands still", nil, nil, fixed(15, 0), func(s *subscription, plan string) {
			s.status(http.StatusNoContent, "PAUSED")
			s.take(plan)
			s.status(http.StatusNoContent, "ACTIVE")
		}, "[12-15 01-15 02-15]", append(append(append([]string{paused}, moved...), activated), charged, charged, charged)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.cancel(http.StatusNoContent, "")
			is, to := s.offered(row.is, row.to)
			s.on(is, row.bought)
			row.do(s, to)
			s.until(monthEnd)
			s.wantOrderDays(row.orders)
			s.wantEntries(append([]string{created, cancelled, grouped, created}, row.entries...)...)
		})
	}
}

// offered makes a group with two options and returns the numbers of their selling
// plans.
func (s *subscription) offered(first, last map[string]any) (is, to string) {
	s.t.Helper()
	var plans []any
	for i, option := range []map[string]any{first, last} {
		body := map[string]any{"frequencyName": fmt.Sprintf("Option %d", i), "frequencyCount": 1, "frequencyInterval": "MONTH"}
		for k, v := range option {
			body[k] = v
		}
		plans = append(plans, body)
	}
	var made group
	if got := s.send("POST", s.urls.Subscriptions+planGroups, s.key, map[string]any{"groupName": "Coffee", "subscriptionPlans": plans}, &made); got != http.StatusCreated {
		s.t.Fatalf("making a group answered %d", got)
	}
	return made.Plans[0].IDNew, made.Plans[1].IDNew
}

// A customer may buy on a plan before the service has found it: the platform's answer
// to its creation was lost.
func TestPlanInCreationAppliesTrialToItsCheckout(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.cancel(http.StatusNoContent, "")
	option := map[string]any{"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "freeTrialEnabled": true, "freeTrialCount": 45, "freeTrialInterval": "DAY"}
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_after"}, "seed": 3}, nil)
	if got := s.send("POST", s.urls.Subscriptions+planGroups, s.key, map[string]any{"groupName": "Club", "subscriptionPlans": []any{option}}, nil); got != http.StatusServiceUnavailable {
		t.Fatalf("making a group answered %d", got)
	}
	s.call("DELETE", "/platform/faults", nil, nil)
	var made struct {
		SellingPlanGroups struct {
			Nodes []struct {
				SellingPlans struct{ Nodes []struct{ ID string } }
			}
		}
	}
	s.mutateInto(`{ sellingPlanGroups(first: 1) { nodes { sellingPlans(first: 1) { nodes { id } } } } }`, &made)
	if len(made.SellingPlanGroups.Nodes) != 1 {
		t.Fatal("the platform has no group")
	}
	plan := path.Base(made.SellingPlanGroups.Nodes[0].SellingPlans.Nodes[0].ID)
	s.id = s.checkout(map[string]any{
		"nextBillingDate": "2026-12-01",
		"lines":           []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "9.00", "sellingPlanId": plan}},
	})
	s.pass("PT1H")
	wantDay(t, "the end of the trial", s.phase().TrialEndDate, "2026-12-16T14:00:00Z")
	s.until("2026-12-20")
	s.wantOrderDays("[12-16]")
}
