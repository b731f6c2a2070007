package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// permitted is what a shopper may do with a contract.
type permitted struct {
	Contract    object
	Version     int64
	Frozen      bool
	EndsOn      *time.Time `json:"pendingCancellationDate"`
	Permissions []permission
	Orders      []struct {
		ID          int64
		Status      string
		ClosesAt    *time.Time `json:"changesCloseAt"`
		Permissions []permission
	}
}

type permission struct {
	Action   string
	Allowed  bool
	ErrorKey string
}

// key returns why an action cannot be done: "" when it can, "-" when it is not offered.
func reasonFor(action string, list []permission) string {
	i := slices.IndexFunc(list, func(p permission) bool { return p.Action == action })
	switch {
	case i < 0:
		return "-"
	case list[i].Allowed:
		return ""
	}
	return list[i].ErrorKey
}

// contractOf reads a contract of the shopper's.
func (p *shopper) contractOf(id int64) (is permitted) {
	p.t.Helper()
	p.want(200, "GET", fmt.Sprintf("/contracts/%d", id), nil, &is)
	return is
}

// did returns the events of what was done in the portal since the entry with a number, oldest first.
func (s *subscription) did(after int64, source string) (events []string) {
	s.t.Helper()
	var list []struct {
		ID         int64
		EventType  string
		ActivityBy string
	}
	s.get("/activity-logs?size=100&sort=id,asc&eventSource.equals="+source, &list)
	for _, e := range list {
		if e.ID > after && !beside(e.EventType) {
			events = append(events, strings.TrimSpace(e.EventType+" "+e.ActivityBy))
		}
	}
	return events
}

func lastPart(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// A subscriber changes what they get, where it goes and what it costs, pauses, resumes, ends and
// starts again. Each change is in the log as the customer's, and late or repeated ones do nothing.
func TestPortalChangesContract(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.begin()
	ana := s.visit(s.payer(s.id))
	at := func(path string) string { return fmt.Sprintf("/contracts/%d%s", s.id, path) }
	is := ana.contractOf(s.id)
	var mine []struct {
		ID int64 `json:"subscriptionContractId"`
	}
	ana.want(200, "GET", "/contracts", nil, &mine)
	if len(mine) != 1 || mine[0].ID != s.id || is.Contract.ID != fmt.Sprintf("gid://shopify/SubscriptionContract/%d", s.id) || len(is.Orders) < 6 || is.Frozen || is.EndsOn != nil {
		t.Fatalf("her contracts are %+v, and this one %+v", mine, is)
	}
	for action, want := range map[string]string{"PAUSE": "", "CANCEL": "", "SWAP": "", "RESUME": "-", "KEEP": "-", "RESTART": "-"} {
		if got := reasonFor(action, is.Permissions); got != want {
			t.Errorf("%s: %q, want %q", action, got, want)
		}
	}
	if got := reasonFor("SKIP", is.Orders[0].Permissions); got != "" {
		t.Errorf("SKIP: %q", got)
	}

	// What every order has in it.
	v, line := s.articles(), lastPart(is.Contract.Lines.Nodes[0].ID)
	var got object
	ana.want(200, "PUT", at("/lines/"+line), map[string]any{"quantity": 3}, &got)
	if got.Lines.Nodes[0].Quantity != 3 {
		t.Errorf("three pieces: %+v", got.Lines)
	}
	ana.want(200, "PUT", at("/lines/"+line), map[string]any{"variantId": v[1].VariantID}, &got)
	if want := fmt.Sprintf("gid://shopify/ProductVariant/%d", v[1].VariantID); got.Lines.Nodes[0].VariantID != want || lastPart(got.Lines.Nodes[0].ID) != line || got.Lines.Nodes[0].Quantity != 3 {
		t.Errorf("after the swap: %+v", got.Lines)
	}
	ana.want(200, "POST", at("/lines"), map[string]any{"variantId": v[2].VariantID}, &got)
	if len(got.Lines.Nodes) != 2 {
		t.Fatalf("with another product: %+v", got.Lines)
	}
	ana.want(200, "DELETE", at("/lines/"+lastPart(got.Lines.Nodes[1].ID)), nil, &got)
	if len(got.Lines.Nodes) != 1 {
		t.Errorf("without it: %+v", got.Lines)
	}
	if status := ana.ask("DELETE", at("/lines/"+line), nil, nil); status != 400 {
		t.Errorf("without any product: %d %s", status, ana.text)
	}

	// Where it goes, what is charged, and a code.
	ana.want(200, "PUT", at("/shipping-address"), map[string]any{"firstName": "Ana", "lastName": "Silva", "address1": "12 Mill Lane", "city": "Ottawa", "provinceCode": "ON", "countryCode": "CA", "zip": "K1A 0B1"}, nil)
	ana.want(204, "POST", at("/payment-method/send-update-link"), nil, nil)
	var card struct{ ID string }
	s.call("POST", fmt.Sprintf("/platform/customers/%d/payment-methods", s.payer(s.id)), map[string]any{"kind": "card"}, &card)
	ana.want(200, "PUT", at("/payment-method"), map[string]any{"paymentMethodId": card.ID}, &got)
	if got.CustomerPaymentMethod == nil || got.CustomerPaymentMethod.ID != card.ID {
		t.Errorf("charged is %+v, want %s", got.CustomerPaymentMethod, card.ID)
	}
	s.call("POST", "/platform/discount-codes", map[string]any{"code": "TEN", "percent": 10}, nil)
	ana.want(200, "POST", at("/discount"), map[string]any{"discountCode": "TEN"}, &got)
	if len(got.Discounts.Nodes) != 1 {
		t.Fatalf("discounts %+v", got.Discounts)
	}
	if status := ana.ask("POST", at("/discount"), map[string]any{"discountCode": "ten"}, nil); status != 400 || ana.key() != "discountApplied" {
		t.Errorf("the code again: %d %s", status, ana.text)
	}
	ana.want(200, "DELETE", at("/discount?discountId="+lastPart(got.Discounts.Nodes[0].ID)), nil, &got)
	if len(got.Discounts.Nodes) != 0 {
		t.Errorf("discounts %+v", got.Discounts)
	}

	// One order: a product more, the next one skipped once though asked twice, and a later one moved.
	first := s.upcoming()[0]
	once := fmt.Sprintf("/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=%d&billingAttemptId=%d&variantId=%d", s.id, first.ID, v[2].VariantID)
	var carried []struct{ Quantity int }
	ana.want(200, "PUT", once+"&quantity=2", nil, &carried)
	if len(carried) != 1 || carried[0].Quantity != 2 {
		t.Errorf("one-time products %+v", carried)
	}
	ana.want(200, "DELETE", once, nil, &carried)
	if len(carried) != 0 {
		t.Errorf("one-time products %+v", carried)
	}
	ana.headers = map[string]string{"Idempotency-Key": "the-next-one"}
	var skipped, again attempt
	next := fmt.Sprintf("/subscription-billing-attempts/skip-upcoming-order?subscriptionContractId=%d", s.id)
	ana.want(200, "PUT", next, nil, &skipped)
	ana.want(200, "PUT", next, nil, &again)
	if ana.answer.Get("Idempotent-Replayed") != "true" || again.ID != skipped.ID || skipped.ID != first.ID || skipped.Status != "SKIPPED" {
		t.Errorf("skipped %+v and %+v, replayed %q", skipped, again, ana.answer.Get("Idempotent-Replayed"))
	}
	ana.headers = nil
	later := s.upcoming()[0]
	to := later.BillingDate.AddDate(0, 0, 7)
	var moved attempt
	ana.want(200, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule/%d?billingDate=%s&rescheduleFutureOrder=true", later.ID, to.Format(time.DateOnly)), nil, &moved)
	if moved.BillingDate.Day() != to.Day() || s.upcoming()[1].BillingDate.Day() != to.Day() {
		t.Errorf("moved to %s, and the one after it to %s, want the %d", moved.BillingDate, s.upcoming()[1].BillingDate, to.Day())
	}

	// Late: the contract is not any more what she has seen.
	if status := ana.ask("DELETE", fmt.Sprintf("/subscription-contracts/%d?version=%d", s.id, is.Version), nil, nil); status != 409 || ana.key() != "changedMeanwhile" {
		t.Errorf("a late cancellation: %d %s", status, ana.text)
	}

	// A pause, its end, the end of all, and a new start.
	change := func(query string) object {
		t.Helper()
		var o object
		ana.want(200, "PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&%s", s.id, query), nil, &o)
		return o
	}
	if o := change("status=PAUSED&pauseTillDate=2027-01-31&pauseFeedback=away"); o.Status != "PAUSED" {
		t.Errorf("paused: %s", o.Status)
	}
	is = ana.contractOf(s.id)
	if reasonFor("RESUME", is.Permissions) != "" || reasonFor("PAUSE", is.Permissions) != "-" {
		t.Errorf("in a pause: %+v", is.Permissions)
	}
	if o := change("status=ACTIVE"); o.Status != "ACTIVE" {
		t.Errorf("resumed: %s", o.Status)
	}
	is = ana.contractOf(s.id)
	ana.want(200, "DELETE", fmt.Sprintf("/subscription-contracts/%d?cancellationFeedback=too+much&version=%d", s.id, is.Version), nil, &got)
	if got.Status != "CANCELLED" || reasonFor("RESTART", ana.contractOf(s.id).Permissions) != "" {
		t.Errorf("ended: %s", got.Status)
	}
	var renewed object
	ana.headers = map[string]string{"Idempotency-Key": "again"}
	for range 2 {
		ana.want(201, "POST", at("/restart"), map[string]any{"nextBillingDate": "2027-02-01"}, &renewed)
	}
	ana.headers = nil
	ana.want(200, "GET", "/contracts", nil, &mine)
	if len(mine) != 2 || renewed.Status != "ACTIVE" || renewed.ID == got.ID {
		t.Errorf("started again: %+v, and her contracts are %+v", renewed, mine)
	}

	want := []string{
		"PRODUCT_QUANTITY_CHANGE", "PRODUCT_REPLACE", "PRODUCT_ADD", "PRODUCT_REMOVE", "SHIPPING_ADDRESS_CHANGE", "INFORMATIONAL_EVENT", "SWITCH_PAYMENT_METHODS",
		"DISCOUNT_APPLIED", "DISCOUNT_REMOVED", "ONE_TIME_PURCHASE_PRODUCT_ADDED", "ONE_TIME_PURCHASE_PRODUCT_REMOVED", "BILLING_ATTEMPT_SKIPPED", "NEXT_BILLING_DATE_CHANGE",
		"CONTRACT_PAUSED", "AUTO_RESUME_SCHEDULED", "CONTRACT_ACTIVATED", "CONTRACT_CANCELLED",
	}
	for i := range want {
		want[i] += " customer"
	}
	// The platform's webhook about the new contract can be taken in before the answer to its creation:
	// then the log names the platform. There is one entry in any case.
	begun := func(e string) bool { return strings.HasPrefix(e, "CONTRACT_CREATED") }
	made := slices.DeleteFunc(append(s.did(0, "CUSTOMER_PORTAL"), s.did(s.log, "SHOPIFY_EVENT")...), func(e string) bool { return !begun(e) })
	if len(made) != 1 {
		t.Errorf("the new contract's beginnings are %q", made)
	}
	if got := slices.DeleteFunc(s.did(0, "CUSTOMER_PORTAL"), begun); !slices.Equal(got, want) {
		t.Errorf("in the log is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the merchant has switched off or limited is refused, and said beforehand.
func TestPortalKeepsToMerchantsSettings(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ana := s.visit(s.payer(s.id))
	set := func(settings map[string]any) {
		t.Helper()
		s.call("POST", "/settings/portal", settings, nil)
	}
	refused := func(name, method, path string, body any, status int, key string) {
		t.Helper()
		if got := ana.ask(method, path, body, nil); got != status || ana.key() != key {
			t.Errorf("%s: %d %s, want %d %s", name, got, ana.text, status, key)
		}
	}
	status := func(query string) string {
		return fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, query)
	}
	order := func(n int, what string) string {
		return fmt.Sprintf("/subscription-billing-attempts/%s/%d", what, s.upcoming()[n].ID)
	}

	set(map[string]any{"off": []string{"allowPause", "allowSkip"}})
	refused("a pause that is switched off", "PUT", status("PAUSED"), nil, 403, "portalActionDisabled")
	refused("a skip that is switched off", "PUT", order(0, "skip-order"), nil, 403, "portalActionDisabled")
	is := ana.contractOf(s.id)
	if reasonFor("PAUSE", is.Permissions) != "-" || reasonFor("SKIP", is.Orders[0].Permissions) != "-" || reasonFor("RESCHEDULE", is.Orders[0].Permissions) != "" {
		t.Errorf("permissions %+v, of an order %+v", is.Permissions, is.Orders[0].Permissions)
	}
	var settings struct {
		Pause, Skip, Cancel bool
		AllowPause          bool
		AllowCancellation   bool
		Version             int64
	}
	ana.want(200, "GET", "/customer-portal-settings/1", nil, &settings)
	if settings.AllowPause || !settings.AllowCancellation || settings.Version != 1 {
		t.Errorf("settings %+v", settings)
	}

	set(map[string]any{"off": []string{}, "skipMax": 1, "pauseMaxDays": 30, "rescheduleMin": 2, "rescheduleMax": 20, "reasonRequired": true})
	ana.want(200, "PUT", order(0, "skip-order"), nil, nil)
	refused("a second skip in a row", "PUT", order(0, "skip-order"), nil, 400, "skipLimit")
	refused("a pause without an end", "PUT", status("PAUSED"), nil, 400, "pauseTooLong")
	refused("a long pause", "PUT", status("PAUSED&pauseTillDate="+s.now().AddDate(0, 0, 32).Format(time.DateOnly)), nil, 400, "pauseTooLong")
	refused("a pause of two orders", "PUT", status("PAUSED&pauseDurationCycle=2"), nil, 400, "pauseTooLong")
	refused("a move to tomorrow", "PUT", order(0, "reschedule")+"?billingDate="+s.now().AddDate(0, 0, 1).Format(time.DateOnly), nil, 400, "rescheduleRange")
	refused("a move far away", "PUT", "/subscription-billing-attempts", map[string]any{"id": s.upcoming()[0].ID, "billingDate": s.now().AddDate(0, 0, 22).Format(time.DateOnly)}, 400, "rescheduleRange")
	refused("a cancellation without a word", "DELETE", fmt.Sprintf("/subscription-contracts/%d", s.id), nil, 400, "reasonRequired")

	set(map[string]any{"skipMax": 0, "cutoffDays": 3})
	next := s.upcoming()[0]
	s.until(next.BillingDate.AddDate(0, 0, -2).Format(time.DateOnly))
	refused("a skip after the cut-off", "PUT", order(0, "skip-order"), nil, 400, "cutoffPassed")
	refused("a note after the cut-off", "PUT", "/subscription-billing-attempts", map[string]any{"id": next.ID, "orderNote": "x"}, 400, "cutoffPassed")
	refused("a pause after the cut-off", "PUT", status("PAUSED&pauseTillDate="+s.now().AddDate(0, 0, 9).Format(time.DateOnly)), nil, 400, "cutoffPassed")
	ana.want(200, "PUT", order(1, "skip-order"), nil, nil)
	is = ana.contractOf(s.id)
	if o := is.Orders[0]; o.ClosesAt == nil || !o.ClosesAt.Equal(next.BillingDate.AddDate(0, 0, -3)) || reasonFor("SKIP", o.Permissions) != "cutoffPassed" {
		t.Errorf("the next order is %+v", o)
	}
	s.until(next.BillingDate.AddDate(0, 0, 1).Format(time.DateOnly))
	if past := s.past(); !slices.ContainsFunc(past, func(a attempt) bool { return a.ID == next.ID && a.Status == "SUCCESS" }) {
		t.Errorf("past orders %+v", past)
	}
	if got := ana.ask("PUT", status("PAUSED&pauseTillDate="+s.now().AddDate(0, 0, 9).Format(time.DateOnly)), nil, nil); got != http.StatusOK {
		t.Errorf("a pause once the order is made: %d %s", got, ana.text)
	}
}

// A cancellation waits for what the subscriber owes or has paid for, and can be taken back.
func TestPortalCancellationWaitsForWhatIsOwedOrPaid(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		change map[string]any
		events []string
	}{
		"two of three orders are owed": {map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 3}},
			[]string{"INFORMATIONAL_EVENT customer", "INFORMATIONAL_EVENT customer", "INFORMATIONAL_EVENT customer"}},
		"deliveries are paid for": {map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 3}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}},
			[]string{"PREPAID_DEFERRED_CANCELLATION_SCHEDULED customer", "PREPAID_DEFERRED_CANCELLATION_CLEARED customer", "PREPAID_DEFERRED_CANCELLATION_SCHEDULED customer"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, row.change)
			s.call("POST", "/settings", map[string]any{"freezeUntilMinCycles": true}, nil)
			ana := s.visit(s.payer(s.id))
			path := fmt.Sprintf("/subscription-contracts/%d?cancellationFeedback=enough", s.id)
			var got object
			ana.want(200, "DELETE", path, nil, &got)
			is := ana.contractOf(s.id)
			if got.Status != "ACTIVE" || is.EndsOn == nil || !is.EndsOn.After(s.now()) || reasonFor("KEEP", is.Permissions) != "" {
				t.Fatalf("%s, ends on %v, %+v", got.Status, is.EndsOn, is.Permissions)
			}
			if status := ana.ask("DELETE", path, nil, nil); status != 400 || ana.key() != "cancellationPending" {
				t.Errorf("again: %d %s", status, ana.text)
			}
			ana.want(200, "PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=ACTIVE", s.id), nil, nil)
			if is := ana.contractOf(s.id); is.EndsOn != nil || reasonFor("KEEP", is.Permissions) != "-" {
				t.Errorf("kept, and ends on %v", is.EndsOn)
			}
			ana.want(200, "DELETE", path, nil, nil)
			if got := s.did(0, "CUSTOMER_PORTAL"); !slices.Equal(got, row.events) {
				t.Errorf("in the log is %q", got)
			}
			s.until(is.EndsOn.AddDate(0, 0, 3).Format(time.DateOnly))
			if c := s.phase(); c.Status != "cancelled" {
				t.Errorf("after its end the contract is %+v", c)
			}
		})
	}
}

// A cancellation that comes when the next order cannot be changed any more takes effect after it.
func TestPortalCancellationAfterCutoffWaitsForOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings/portal", map[string]any{"cutoffDays": 3}, nil)
	ana, next := s.visit(s.payer(s.id)), s.upcoming()[0]
	s.until(next.BillingDate.AddDate(0, 0, -2).Format(time.DateOnly))
	var got object
	ana.want(200, "DELETE", fmt.Sprintf("/subscription-contracts/%d", s.id), nil, &got)
	is := ana.contractOf(s.id)
	if queue := s.upcoming(); got.Status != "ACTIVE" || is.EndsOn == nil || !is.EndsOn.Equal(next.BillingDate) || len(queue) != 1 || queue[0].ID != next.ID {
		t.Fatalf("%s, ends on %v, queue %+v", got.Status, is.EndsOn, queue)
	}
	s.until(next.BillingDate.AddDate(0, 0, 1).Format(time.DateOnly))
	if c := s.phase(); c.Status != "cancelled" || len(s.orders()) != 1 {
		t.Errorf("a day after the order the contract is %+v, with %d orders", c, len(s.orders()))
	}
	s.until(next.BillingDate.AddDate(0, 2, 0).Format(time.DateOnly))
	if len(s.orders()) != 1 {
		t.Errorf("%d orders", len(s.orders()))
	}
}

// A shopper whose card was declined has it tried again, although the store permits no immediate orders
// and the shopper is held to three of them.
func TestPortalTriesDeclinedPaymentAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "minCycles": 3}})
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": false, "freezeUntilMinCycles": true}, nil)
	ana := s.visit(s.payer(s.id))
	s.declines("INSUFFICIENT_FUNDS", 1)
	s.pass("P11D")
	is := ana.contractOf(s.id)
	declined := is.Orders[0]
	if declined.Status != "FAILURE" || reasonFor("RETRY_PAYMENT", declined.Permissions) != "" || reasonFor("ORDER_NOW", is.Orders[1].Permissions) != "contractFrozen" {
		t.Fatalf("orders %+v", is.Orders)
	}
	retry := func(id int64) string { return fmt.Sprintf("/subscription-billing-attempts/retry-payment/%d", id) }
	if got := ana.ask("PUT", retry(is.Orders[1].ID), nil, nil); got != 400 || ana.key() != "billingAttemptStatus" {
		t.Errorf("a retry of an order that waits: %d %s", got, ana.text)
	}
	if got := ana.ask("PUT", fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", declined.ID), nil, nil); got != 400 || ana.key() != "contractFrozen" {
		t.Errorf("an order now: %d %s", got, ana.text)
	}
	ana.want(200, "PUT", retry(declined.ID), nil, nil)
	s.pass("PT1H")
	if past := s.past(); past[0].ID != declined.ID || past[0].Status != "SUCCESS" || len(s.orders()) != 1 {
		t.Errorf("past orders %+v", past)
	}
}
