package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/sandbox"
)

const api = "/api/external/v2"

// attempt is what a story looks at in a billing attempt.
type attempt struct {
	ID              int64
	ContractID      int64 `json:"contractId"`
	Status          string
	BillingDate     time.Time `json:"billingDate"`
	AttemptCount    int       `json:"attemptCount"`
	OrderID         *int64    `json:"orderId"`
	OrderName       *string   `json:"orderName"`
	ResponseMessage *string   `json:"billingAttemptResponseMessage"`
	OrderNote       *string   `json:"orderNote"`
}

// row is what a story looks at in a contract.
type row struct {
	SubscriptionContractID int64 `json:"subscriptionContractId"`
	Status                 string
	NextBillingDate        *time.Time `json:"nextBillingDate"`
	Orders                 int        `json:"totalSuccessfulOrders"`
}

// subscription is one contract in an otherwise empty store, due in ten days.
type subscription struct {
	*store
	key string
	id  int64
	log int64 // the last entry of the store's own beginnings
}

// subscribe opens an empty store and lets one customer subscribe every month.
func subscribe(t *testing.T, change map[string]any) *subscription {
	t.Helper()
	s := &subscription{store: open(t, sandbox.Options{Empty: true})}
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ APIKey string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	s.key = manifest.APIKey
	var before []struct{ ID int64 }
	s.get("/activity-logs?size=1&sort=id,desc", &before)
	if len(before) > 0 {
		s.log = before[0].ID
	}
	s.id = s.checkout(change)
	return s
}

// checkout makes a contract and returns its number.
func (s *subscription) checkout(change map[string]any) int64 {
	s.t.Helper()
	var variants []struct{ VariantID int64 }
	s.call("GET", "/platform/variants", nil, &variants)
	spec := map[string]any{
		"customer":        map[string]any{"email": "ana@shopper.example", "firstName": "Ana", "lastName": "Silva"},
		"currencyCode":    "USD",
		"nextBillingDate": s.now().AddDate(0, 0, 10),
		"billingPolicy":   map[string]any{"interval": "MONTH", "intervalCount": 1},
		"lines":           []any{map[string]any{"variantId": variants[0].VariantID, "quantity": 2, "currentPrice": "12.50"}},
		"paymentMethod":   "valid",
	}
	for k, v := range change {
		spec[k] = v
	}
	var made struct{ ID int64 }
	s.call("POST", "/platform/contracts", spec, &made)
	return made.ID
}

// get reads from the admin interface.
func (s *subscription) get(path string, out any) {
	s.t.Helper()
	if got := s.send("GET", s.urls.Subscriptions+api+path, s.key, nil, out); got != http.StatusOK {
		s.t.Fatalf("GET %s answered %d", path, got)
	}
}

// put changes something over the admin interface and returns the status.
func (s *subscription) put(path string, in, out any) int {
	s.t.Helper()
	return s.send("PUT", s.urls.Subscriptions+api+path, s.key, in, out)
}

func (s *subscription) upcoming() []attempt {
	s.t.Helper()
	var list []attempt
	s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &list)
	return list
}

func (s *subscription) past() []attempt {
	s.t.Helper()
	var list []attempt
	s.get(fmt.Sprintf("/subscription-billing-attempts/past-orders?contractId=%d", s.id), &list)
	return list
}

func (s *subscription) row() row {
	s.t.Helper()
	var list []row
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &list)
	if len(list) != 1 {
		s.t.Fatalf("%d contracts found by the number %d", len(list), s.id)
	}
	return list[0]
}

// wantEntries asserts the exact list of entries since the store was set up, oldest
// first, each as
// "source event status".
func (s *subscription) wantEntries(want ...string) {
	s.t.Helper()
	var list []struct{ EventSource, EventType, Status string }
	s.get(fmt.Sprintf("/activity-logs?size=100&sort=id,asc&id.greaterThan=%d", s.log), &list)
	var got []string
	for _, e := range list {
		got = append(got, e.EventSource+" "+e.EventType+" "+e.Status)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.t.Errorf("entries:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

func lines(list []string) (text string) {
	for _, l := range list {
		text += "  " + l + "\n"
	}
	return text
}

const (
	created   = "SHOPIFY_EVENT CONTRACT_CREATED SUCCESS"
	charged   = "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED SUCCESS"
	declined  = "SYSTEM_EVENT BILLING_ATTEMPT_TRIGGERED FAILURE"
	triggered = "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_TRIGGERED INFO"
	skipped   = "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_SKIPPED SUCCESS"
)

func TestANewContractHasAQueueOfSixAndIsChargedOnItsDate(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	queue := s.upcoming()
	if len(queue) != 6 {
		t.Fatalf("%d upcoming attempts, want 6", len(queue))
	}
	first := time.Date(2026, 11, 11, 14, 0, 0, 0, time.UTC) // 9:00 in New York
	for i, a := range queue {
		if a.Status != "QUEUED" || !a.BillingDate.Equal(first.AddDate(0, i, 0)) && i < 4 {
			t.Errorf("attempt %d: %+v, want QUEUED on %s", i, a, first.AddDate(0, i, 0))
		}
	}
	s.pass("P11D")
	past, orders, c := s.past(), s.orders(), s.row()
	if len(orders) != 1 || len(past) != 1 || past[0].Status != "SUCCESS" || past[0].OrderID == nil || *past[0].OrderID != orders[0].ID {
		t.Fatalf("past %+v and orders %+v, want one and the same", past, orders)
	}
	if orders[0].Amount != "25.00" || c.Orders != 1 || c.NextBillingDate == nil || !c.NextBillingDate.Equal(first.AddDate(0, 1, 0)) {
		t.Errorf("order %+v of contract %+v", orders[0], c)
	}
	if n := len(s.upcoming()); n != 6 {
		t.Errorf("the queue has %d attempts after the charge, want 6", n)
	}
	s.wantEntries(created, charged)
}

func TestASkippedCycleIsNotChargedAndCanBeTakenBack(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first, second := s.upcoming()[0], s.upcoming()[1]
	var answer attempt
	path := fmt.Sprintf("/subscription-billing-attempts/skip-order/%d?subscriptionContractId=%d", first.ID, s.id)
	if got := s.put(path, nil, &answer); got != http.StatusOK || answer.Status != "SKIPPED" {
		t.Fatalf("skipping answered %d %+v", got, answer)
	}
	if c := s.row(); !c.NextBillingDate.Equal(second.BillingDate) {
		t.Errorf("the next billing date is %s, want that of the following cycle, %s", c.NextBillingDate, second.BillingDate)
	}
	if got := s.put(path, nil, nil); got != http.StatusBadRequest {
		t.Errorf("skipping twice answered %d", got)
	}
	s.pass("P1D")
	unskip := fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first.ID)
	if got := s.put(unskip, nil, &answer); got != http.StatusOK || answer.Status != "QUEUED" {
		t.Fatalf("unskipping answered %d %+v", got, answer)
	}
	if got := s.put(path, nil, nil); got != http.StatusOK {
		t.Fatalf("skipping again answered %d", got)
	}
	s.pass("P45D")
	orders := s.orders()
	if len(orders) != 1 || orders[0].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2 alone", orders)
	}
	if got := s.put(unskip, nil, nil); got != http.StatusBadRequest {
		t.Errorf("taking back a skip of the past answered %d", got)
	}
	s.wantEntries(created, skipped, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", skipped, charged)
}

func TestADateThatAPersonChoseIsChargedAtTheStoresOrderTime(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	var answer attempt
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-11-20"}, &answer); got != http.StatusOK {
		t.Fatalf("editing answered %d", got)
	}
	want := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	if !answer.BillingDate.Equal(want) {
		t.Errorf("the answer shows %s, want the effective instant %s", answer.BillingDate, want)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-10-20"}, nil); got != http.StatusBadRequest {
		t.Errorf("a date in the past answered %d", got)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "billingDate": "2026-11-03", "orderNote": "ring twice"}, &answer); got != http.StatusOK {
		t.Fatalf("editing answered %d", got)
	}
	s.pass("P3D")
	orders := s.orders()
	if len(orders) != 1 || orders[0].Cycle != 1 || !orders[0].At.Equal(time.Date(2026, 11, 3, 14, 0, 2, 0, time.UTC)) {
		t.Errorf("orders %+v, want that of cycle 1 on November 3", orders)
	}
	if past := s.past(); past[0].OrderNote == nil || *past[0].OrderNote != "ring twice" {
		t.Errorf("past %+v, want the note", past)
	}
	s.pass("P30D")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v: the calendar of later cycles must not move", orders)
	}
	s.pass("P9D")
	if orders := s.orders(); len(orders) != 2 || orders[1].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2 on December 11", orders)
	}
}

func TestAnImmediateChargeIsMadeOnceAndCounted(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	first := s.upcoming()[0]
	trigger := func(id int64) int {
		return s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", id), nil, nil)
	}
	if got := trigger(first.ID); got != http.StatusOK {
		t.Fatalf("charging now answered %d", got)
	}
	if got := trigger(first.ID); got != http.StatusConflict {
		t.Errorf("charging what is being charged answered %d", got)
	}
	s.pass("PT1M")
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 1 {
		t.Fatalf("orders %+v, want that of cycle 1", orders)
	}
	if got := trigger(first.ID); got != http.StatusBadRequest {
		t.Errorf("charging a successful attempt answered %d", got)
	}
	if got := trigger(999_999); got != http.StatusNotFound {
		t.Errorf("charging an unknown attempt answered %d", got)
	}
	s.pass("P15D")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v: the date of the cycle that was charged early has come and charged it again", orders)
	}
	s.wantEntries(created, triggered, charged)
}

func TestADeclineIsKeptAndAFailedAttemptCanBeChargedAgain(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	past := s.past()
	if len(past) != 1 || past[0].Status != "FAILURE" || past[0].ResponseMessage == nil {
		t.Fatalf("past %+v, want a failure with its message", past)
	}
	for range 5 {
		s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CARD_DECLINED"}, nil)
		if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusOK {
			t.Fatalf("charging a failed attempt answered %d", got)
		}
		s.pass("PT1M")
	}
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusBadRequest {
		t.Errorf("the sixth charge within an hour answered %d", got)
	}
	s.pass("PT1H")
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", past[0].ID), nil, nil); got != http.StatusOK {
		t.Errorf("a charge after an hour answered %d", got)
	}
	s.pass("PT1M")
	if past = s.past(); past[0].Status != "SUCCESS" || past[0].AttemptCount != 7 {
		t.Errorf("past %+v, want the success of the seventh try", past)
	}
	keys := make(map[string]bool)
	for _, a := range s.contract(s.id).Attempts {
		keys[a.Key] = true
	}
	if len(keys) != 7 || len(s.orders()) != 1 {
		t.Errorf("%d keys and %d orders, want 7 keys and 1 order", len(keys), len(s.orders()))
	}
	want := []string{created, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS"}
	for range 5 {
		want = append(want, triggered, declined)
	}
	s.wantEntries(append(want, "MERCHANT_EXTERNAL_API IMMEDIATE_ORDER_RATE_LIMIT_BLOCKED FAILURE", triggered, charged)...)
}

func TestAChargeWithoutAnEndIsShownAndHoldsLaterCyclesBackForTwoDaysAtMost(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "NEVER"}, nil)
	s.pass("P11D")
	if past := s.past(); len(past) != 1 || past[0].Status != "PROGRESS" {
		t.Errorf("past %+v, want the attempt under way", past)
	}
	s.pass("P34D")
	past := s.past()
	if len(past) != 2 || past[1].Status != "SHOPIFY_EXCEPTION" || past[0].Status != "SUCCESS" {
		t.Errorf("past %+v, want the first attempt shown as an exception and the second charged", past)
	}
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 2 {
		t.Errorf("orders %+v, want that of cycle 2", orders)
	}
	if n := len(s.contract(s.id).Attempts); n != 2 {
		t.Errorf("%d charges were sent, want one for each cycle", n)
	}
	s.wantEntries(created, "SYSTEM_EVENT BILLING_ATTEMPT_NOTIFICATION FAILURE", "SYSTEM_EVENT INFORMATIONAL_EVENT FAILURE", charged)
}

func TestAChallengeThatNobodyAnswersFails(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "CHALLENGE"}, nil)
	s.pass("P11D")
	if past := s.past(); len(past) != 1 || past[0].Status != "SECURITY_CHALLENGE" {
		t.Errorf("past %+v, want the challenge", past)
	}
	s.pass("P3D")
	if past := s.past(); len(past) != 1 || past[0].Status != "FAILURE" {
		t.Errorf("past %+v, want the failure", past)
	}
	toldToConfirm := "SYSTEM_EVENT SEND_SECURITY_CHALLENGE_EMAIL SUCCESS"
	s.wantEntries(created, "SYSTEM_EVENT BILLING_ATTEMPT_UPDATED INFO", toldToConfirm, declined, toldToConfirm)
}

func TestAFailedAttemptIsChargedAgainOnTheDateItIsGiven(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	failed := s.past()[0]
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": failed.ID, "billingDate": "2026-11-20"}, nil); got != http.StatusOK {
		t.Fatalf("giving a failed attempt a date answered %d", got)
	}
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": failed.ID, "billingDate": "2090-01-01"}, nil); got != http.StatusBadRequest {
		t.Errorf("a date far ahead answered %d", got)
	}
	s.pass("P10D")
	if orders := s.orders(); len(orders) != 1 || orders[0].Cycle != 1 || !orders[0].At.Equal(time.Date(2026, 11, 20, 14, 0, 2, 0, time.UTC)) {
		t.Errorf("orders %+v, want that of cycle 1 on November 20", orders)
	}
	s.wantEntries(created, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS", "MERCHANT_EXTERNAL_API NEXT_BILLING_DATE_CHANGE SUCCESS", charged)
}

func TestAPausedContractHasNoQueueAndBeginsAgainAfterwards(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractPause(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
	s.pass("PT1M")
	if c, queue := s.row(), s.upcoming(); c.Status != "paused" || c.NextBillingDate != nil || len(queue) != 0 {
		t.Errorf("contract %+v with the queue %+v, want none", c, queue)
	}
	s.pass("P60D")
	s.mutate(fmt.Sprintf(`mutation { subscriptionContractActivate(subscriptionContractId: "gid://shopify/SubscriptionContract/%d") { userErrors { message } } }`, s.id))
	s.pass("PT1M")
	if queue := s.upcoming(); len(queue) != 6 || queue[0].BillingDate.Before(s.now()) {
		t.Errorf("queue %+v, want six attempts to come", queue)
	}
	s.pass("P1M")
	if orders := s.orders(); len(orders) != 1 {
		t.Errorf("orders %+v, want one since the contract runs again", orders)
	}
	s.wantEntries(created, "SHOPIFY_EVENT CONTRACT_PAUSED SUCCESS", "SHOPIFY_EVENT CONTRACT_ACTIVATED SUCCESS", requeued, charged)
}

// mutate changes something at the platform, as its own staff would.
func (s *subscription) mutate(document string) {
	s.t.Helper()
	s.mutateInto(document, nil)
}

// mutateInto does the same and reads the answer into out, which may be nil.
func (s *subscription) mutateInto(document string, out any) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var manifest struct{ PlatformToken string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		s.t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		s.t.Fatal(err)
	}
	answer := s.graphQL(manifest.PlatformToken, body)
	if answer.Errors != nil {
		s.t.Fatalf("%s: %s", document, answer.Errors)
	}
	if bytes.Contains(answer.Data, []byte(`"message"`)) {
		s.t.Fatalf("%s was refused: %s", document, answer.Data)
	}
	if out != nil {
		if err := json.Unmarshal(answer.Data, out); err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestAContractWhoseIntervalChangesGoesOnBeingCharged(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.pass("P19D") // cycle 1 was charged on November 11
	s.draft(`{ billingPolicy: { interval: WEEK, intervalCount: 2 }, deliveryPolicy: { interval: WEEK, intervalCount: 2 }, nextBillingDate: "2026-11-25T15:00:00Z" }`)
	s.pass("PT1M")
	s.pass("P6M")
	orders := s.orders()
	for i, o := range orders {
		if o.Cycle != i+1 {
			t.Errorf("order %d is of cycle %d", i, o.Cycle)
		}
		if i >= 3 && o.At.Sub(orders[i-1].At).Round(24*time.Hour) != 14*24*time.Hour {
			t.Errorf("order %d came at %s, the one before it at %s", i, o.At, orders[i-1].At)
		}
	}
	if len(orders) < 13 {
		t.Errorf("%d orders in half a year of every two weeks", len(orders))
	}
	for _, a := range s.past() {
		if a.Status != "SUCCESS" {
			t.Errorf("attempt %+v", a)
		}
	}
}

func TestThePlatformShowsTheNextDateAfterAnOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.pass("P11D")
	if shown, next := s.contract(s.id).NextBillingDate, s.row().NextBillingDate; shown == nil || !shown.Equal(*next) {
		t.Errorf("the platform shows %v, the service %v", shown, next)
	}
}

// draft changes a contract at the platform through a draft.
func (s *subscription) draft(input string) {
	s.t.Helper()
	var answer struct {
		Update struct{ Draft struct{ ID string } }
	}
	s.mutateInto(fmt.Sprintf(`mutation { update: subscriptionContractUpdate(contractId: "gid://shopify/SubscriptionContract/%d") { draft { id } userErrors { message } } }`, s.id), &answer)
	draft := answer.Update.Draft.ID
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftUpdate(draftId: %q, input: %s) { userErrors { message } } }`, draft, input))
	s.mutate(fmt.Sprintf(`mutation { subscriptionDraftCommit(draftId: %q) { contract { id } userErrors { message } } }`, draft))
}

func TestTheAttemptsOfAnUnknownContractAreNotFound(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for _, list := range []string{"top-orders", "past-orders"} {
		for contract, want := range map[int64]int{s.id: http.StatusOK, 123456: http.StatusNotFound} {
			if got := s.send("GET", fmt.Sprintf("%s%s/subscription-billing-attempts/%s?contractId=%d", s.urls.Subscriptions, api, list, contract), s.key, nil, nil); got != want {
				t.Errorf("%s of contract %d answered %d, want %d", list, contract, got, want)
			}
		}
	}
}

func TestADayAloneIsADayOfTheStore(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"nextBillingDate": "2026-12-15"})
	if first := s.upcoming()[0].BillingDate; !first.Equal(time.Date(2026, 12, 15, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the first order is due %s, want December 15 at 9:00 in New York", first)
	}
}

// A plan that becomes a membership plan takes the contracts on it along to the
// other host, and back. They stay the contracts that they were.
func TestContractsChangeSidesWithTheirPlans(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.id = s.checkout(map[string]any{"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "12.50", "sellingPlanId": 7777}}})
	on := func(host string) (rows []row) {
		t.Helper()
		if got := s.send("GET", host+api+"/subscription-contract-details?sellingPlanId=7777", s.key, nil, &rows); got != http.StatusOK {
			t.Fatalf("searching answered %d", got)
		}
		return rows
	}
	for _, plans := range [][]int64{{7777}, {}} {
		s.call("POST", "/settings", map[string]any{"membershipSellingPlans": plans}, nil)
		s.pass("PT1M")
		is, other := on(s.urls.Subscriptions), on(s.urls.Memberships)
		if len(plans) > 0 {
			is, other = other, is
		}
		if len(is) != 1 || len(other) != 0 || is[0].SubscriptionContractID != s.id || is[0].NextBillingDate == nil {
			t.Errorf("with the membership plans %v the contract is on one side as %+v and on the other as %+v", plans, is, other)
		}
	}
	s.pass("P11D")
	if orders := s.orders(); len(orders) != 2 {
		t.Errorf("orders %+v, want one of each contract", orders)
	}
	if got := s.request("POST", s.urls.Control+"/settings", map[string]any{"disabledMails": []string{"birthday"}}); got.status != http.StatusBadRequest || got.errorKey() != "mailKind" {
		t.Errorf("switching off an e-mail that nobody knows answered %d %s", got.status, got.errorKey())
	}
}
