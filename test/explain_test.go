package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// spoken is what a story looks at in a moment of an explanation.
type spoken struct {
	At          time.Time
	Local, Zone string
}

// explanation is what a story looks at in the explanation of an attempt.
type explanation struct {
	Cycle           int
	Status, Summary string
	Date            struct {
		Due, Planned *spoken
		Moved        bool
		Rule         string
		Changes      []struct {
			Kind, By, Words string
			From, To        *spoken
		}
		Words []string
	}
	Prices struct {
		Lines []struct {
			Price, PriceBefore float64
			OneOff             bool
			PriceRule          []struct {
				From    int
				Counted string
				Price   float64
			}
			Words string
		}
		LinesTotal    float64
		Discounts     []struct{ Words string }
		PlatformAsked bool
	}
	Preparation struct {
		State string
		Words []string
	}
	Tries []struct {
		IdempotencyKey, State, AskedBy, ErrorCode, PlatformAttemptID, Words string
		FirstSentAt, LastSentAt, EndedAt                                    *spoken
	}
	Outcome struct {
		Final   bool
		OrderID int64
		Amount  float64
		Words   string
	}
	Next struct {
		Action, Status, Words string
		At                    *spoken
	}
	Activity []struct{ EventSource, EventType, Status string }
}

func (s *subscription) explain(attempt int64) (e explanation) {
	s.t.Helper()
	s.get(fmt.Sprintf("/subscription-billing-attempts/%d/explanation", attempt), &e)
	return e
}

// log returns the entries of the explanation, as wantEntries has them.
func (e explanation) log() (list []string) {
	for _, a := range e.Activity {
		list = append(list, a.EventSource+" "+a.EventType+" "+a.Status)
	}
	return list
}

func says(t *testing.T, list []string, want string) {
	t.Helper()
	if text := strings.Join(list, " "); !strings.Contains(text, want) {
		t.Errorf("it says\n%s, and not\n%s", text, want)
	}
}

func TestExplainFollowsOrderFromQueueToEnd(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"nextBillingDate": "2026-12-31"})
	queue := s.upcoming()
	february := queue[2]
	e := s.explain(february.ID)
	due := time.Date(2027, 2, 28, 14, 0, 0, 0, time.UTC) // 9:00 in New York
	if e.Cycle != 3 || e.Status != "QUEUED" || !e.Date.Due.At.Equal(due) || e.Date.Due.Local != "2027-02-28T09:00:00-05:00" || e.Date.Due.Zone != "America/New_York" {
		t.Errorf("the order of February is explained as %+v", e)
	}
	says(t, e.Date.Words, "orders recur every month, counted from 2026-12-31, at 09:00 in America/New_York, beginning with cycle 1.")
	says(t, e.Date.Words, "February 2027 has no 31st, so it falls on the last day of the month, the 28th.")
	if e.Next.Action != "CHARGE" || !e.Next.At.At.Equal(due) || len(e.Tries) != 0 || e.Outcome.Final || !e.Prices.PlatformAsked || e.Prices.LinesTotal != 25 {
		t.Errorf("what comes next is explained as %+v, with the prices %+v", e.Next, e.Prices)
	}

	path := fmt.Sprintf("/subscription-billing-attempts/%s/%d", "%s", february.ID)
	s.put(fmt.Sprintf(path, "skip-order"), nil, nil)
	if e = s.explain(february.ID); e.Status != "SKIPPED" || e.Next.Action != "NONE" || len(e.Date.Changes) != 1 || !strings.Contains(e.Outcome.Words, "skipped it at 2026-11-01") {
		t.Errorf("the skip is explained as %+v, %+v", e.Outcome, e.Date.Changes)
	}
	s.put(fmt.Sprintf(path, "unskip-order"), nil, nil)
	s.put(fmt.Sprintf(path, "reschedule-order")+"?billingDate=2027-02-20", nil, nil)
	if e = s.explain(february.ID); len(e.Date.Changes) != 3 {
		t.Fatalf("the changes are %+v, want three", e.Date.Changes)
	}
	var done []string
	for _, c := range e.Date.Changes {
		done = append(done, c.Kind+" "+c.By)
	}
	if got, want := strings.Join(done, ", "), strings.ReplaceAll("SKIPPED x, UNSKIPPED x, MOVED x", "x", e.Date.Changes[0].By); got != want || e.Date.Changes[0].By == "" {
		t.Errorf("the changes are %s, want %s", got, want)
	}
	if moved := e.Date.Changes[2]; !e.Date.Moved || !moved.From.At.Equal(due) || !moved.To.At.Equal(e.Date.Due.At) || !e.Date.Planned.At.Equal(due) {
		t.Errorf("the move is explained as %+v", e.Date)
	}

	s.pass("P115D")
	e = s.explain(february.ID)
	charge := s.contract(s.id).Attempts
	if e.Status != "SUCCESS" || !e.Outcome.Final || e.Outcome.Amount != 25 || len(e.Tries) != 1 || e.Next.Action != "NONE" {
		t.Fatalf("the order is explained as %+v", e)
	}
	if try := e.Tries[0]; try.State != "SUCCEEDED" || try.IdempotencyKey != charge[len(charge)-1].Key && try.IdempotencyKey != charge[0].Key || try.FirstSentAt == nil || try.EndedAt == nil {
		t.Errorf("the charge is explained as %+v, and the platform has %+v", try, charge)
	}
	if got, want := fmt.Sprint(e.log()), fmt.Sprint([]string{skipped, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS", charged}); got != want {
		t.Errorf("entries %s, want %s", got, want)
	}
	s.wantEntries(created, skipped, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS", charged, charged, charged)

	for name, url := range map[string]string{
		"no attempt":     fmt.Sprintf("%s%s/subscription-billing-attempts/999999/explanation", s.urls.Subscriptions, api),
		"the other line": fmt.Sprintf("%s%s/subscription-billing-attempts/%d/explanation", s.urls.Memberships, api, february.ID),
	} {
		if got := s.send("GET", url, s.key, nil, nil); got != http.StatusNotFound {
			t.Errorf("%s answered %d", name, got)
		}
	}
}

func TestExplainServesMembershipsOnTheirHost(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	subscribers := s.upcoming()[0].ID
	member := s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "5.00", "sellingPlanId": 6101}}})
	var queue []attempt
	s.send("GET", fmt.Sprintf("%s%s/subscription-billing-attempts/top-orders?contractId=%d", s.urls.Memberships, api, member), s.key, nil, &queue)
	if len(queue) == 0 {
		t.Fatal("the membership has no queue")
	}
	for name, row := range map[string]struct {
		host    string
		attempt any
		key     string
		want    int
		refused string // its errorKey
	}{
		"the membership's order":       {s.urls.Memberships, queue[0].ID, s.key, http.StatusOK, ""},
		"the same on the other host":   {s.urls.Subscriptions, queue[0].ID, s.key, http.StatusNotFound, "billingAttemptNotFound"},
		"the subscription's order":     {s.urls.Subscriptions, subscribers, s.key, http.StatusOK, ""},
		"the same on the memberships'": {s.urls.Memberships, subscribers, s.key, http.StatusNotFound, "billingAttemptNotFound"},
		"what is no number":            {s.urls.Subscriptions, "x", s.key, http.StatusBadRequest, "invalid"},
		"zero, which is no order's id": {s.urls.Subscriptions, 0, s.key, http.StatusBadRequest, "invalid"},
		"without a key":                {s.urls.Subscriptions, subscribers, "", http.StatusUnauthorized, "apiKeyMissing"},
	} {
		var e explanation
		got := s.request("GET", fmt.Sprintf("%s%s/subscription-billing-attempts/%v/explanation", row.host, api, row.attempt), nil, "X-API-Key", row.key)
		if got.status != row.want || got.errorKey() != row.refused {
			t.Errorf("%s: answered %d %s, want %d %s", name, got.status, got.errorKey(), row.want, row.refused)
			continue
		}
		if got.status != http.StatusOK {
			continue
		}
		if got.into(t, &e); e.Cycle != 1 || e.Next.Action != "CHARGE" {
			t.Errorf("%s: answered %+v", name, e.Next)
		}
	}
}

func TestExplainShowsEveryTryOfDeclinedOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	e := s.explain(first.ID)
	if e.Status != "FAILURE" || e.Next.Action != "CHARGE" || e.Next.At == nil || e.Outcome.Final || !strings.Contains(e.Outcome.Words, "(INSUFFICIENT_FUNDS)") {
		t.Errorf("the decline is explained as %+v, %+v", e.Outcome, e.Next)
	}
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CHALLENGE"}, nil)
	s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", first.ID), nil, nil)
	s.pass("PT2M")
	e = s.explain(first.ID)
	if e.Status != "SECURITY_CHALLENGE" || e.Next.Action != "ASK" || len(e.Tries) != 2 || e.Tries[1].State != "CHALLENGED" || e.Tries[1].AskedBy == "" || e.Tries[1].PlatformAttemptID == "" {
		t.Errorf("the challenge is explained as %+v, %+v", e.Next, e.Tries)
	}
	if first := e.Tries[0]; first.State != "FAILED" || first.ErrorCode != "INSUFFICIENT_FUNDS" || first.EndedAt == nil || first.AskedBy != "" {
		t.Errorf("the first try is explained as %+v", first)
	}
	keys := make(map[string]bool)
	for _, a := range s.contract(s.id).Attempts {
		keys[a.Key] = true
	}
	for _, try := range e.Tries {
		if !keys[try.IdempotencyKey] {
			t.Errorf("the platform has no charge with the key of %+v, or the try before has the same", try)
		}
		delete(keys, try.IdempotencyKey)
	}
	says(t, []string{e.Next.Words}, "If the customer has not confirmed the payment by")
	s.wantEntries(created, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS", triggered, "SYSTEM_EVENT BILLING_ATTEMPT_UPDATED INFO",
		"SYSTEM_EVENT SEND_SECURITY_CHALLENGE_EMAIL SUCCESS")
}

// What is said of a later order is what comes: it is left out if the one before it is not
// paid by then, and made otherwise.
func TestExplainShowsUnpaidOrderAheadOfOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "WEEK", "intervalCount": 1}})
	queue := s.upcoming()
	s.declines("CARD_DECLINED", 4) // on the days 0, 1, 3 and 5
	s.pass("P11D")
	for _, a := range queue[1:3] {
		if e := s.explain(a.ID); e.Next.Action != "CHARGE" || e.Next.At == nil || !e.Next.At.At.Equal(a.BillingDate) || !strings.Contains(e.Next.Words, "if cycle 1 has been paid or given up by then") {
			t.Errorf("the order of %s is explained as %+v", a.BillingDate, e.Next)
		}
	}
	s.pass("P15D")
	s.wantOrders(1, 3)
	if e := s.explain(queue[1].ID); e.Status != "SKIPPED_DUNNING_MGMT" {
		t.Errorf("the second order is %s: %s", e.Status, e.Summary)
	}
}

func TestExplainAnswersWhilePlatformIsDown(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	queue := s.upcoming()
	s.pass("P10DT1H") // an hour before it falls due
	s.call("POST", "/platform/faults", map[string]any{"rate": 1, "kinds": []string{"timeout_before", "connection_reset"}, "seed": 3}, nil)
	s.pass("PT19H")
	e := s.explain(queue[0].ID)
	if e.Prices.PlatformAsked || len(e.Tries) == 0 || (e.Status != "REQUESTING" && e.Status != "SHOPIFY_EXCEPTION") || e.Tries[0].State != "UNKNOWN" || e.Next.Action != "CHARGE" || e.Next.At == nil {
		t.Fatalf("the charge without an answer is explained as %+v", e)
	}
	says(t, []string{e.Next.Words}, "sent again under the same key")
	s.call("DELETE", "/platform/faults", nil, nil)
	s.pass("P1D")
	if again := s.explain(queue[0].ID); again.Status != "SUCCESS" || len(again.Tries) != 1 || again.Tries[0].IdempotencyKey != e.Tries[0].IdempotencyKey {
		t.Errorf("afterwards it is explained as %+v", again)
	}
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v, want one", orders)
	}
}

func TestExplainShowsContentAndPreparationOfOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first := s.upcoming()[0]
	s.put(oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=2"), nil, nil)
	s.put(fmt.Sprintf("/subscription-contracts-add-discount?percentage=10&contractId=%d", s.id), nil, nil)
	e := s.explain(first.ID)
	if e.Preparation.State != "WAITING" || e.Next.Action != "PREPARE" || len(e.Prices.Lines) != 2 || !e.Prices.Lines[1].OneOff || e.Prices.Lines[0].OneOff || len(e.Prices.Discounts) != 1 {
		t.Errorf("explained as %+v, %+v, %+v", e.Preparation, e.Next, e.Prices)
	}
	says(t, e.Preparation.Words, "it carries one-time products (1)")
	if len(e.Prices.Discounts) == 1 {
		says(t, []string{e.Prices.Discounts[0].Words}, "10 % off")
	}
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "NEVER"}, nil)
	s.pass("P11D")
	if e = s.explain(first.ID); e.Status != "PROGRESS" || e.Preparation.State != "DONE" || e.Next.Action != "ASK" || !e.Prices.Lines[1].OneOff {
		t.Errorf("explained as %+v, %+v, %+v", e.Preparation, e.Next, e.Prices)
	}
	second := s.upcoming()[0]
	s.put(fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2026-11-12", second.ID), nil, nil)
	s.pass("PT3H")
	if e = s.explain(second.ID); e.Next.Action != "WAIT" || !strings.Contains(e.Next.Words, "the end of cycle 1 is not known yet") {
		t.Errorf("the cycle after it is explained as %+v", e.Next)
	}
}
