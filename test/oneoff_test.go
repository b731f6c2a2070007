package test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// ordered is a renewal as the platform's books show what was in it.
type ordered struct {
	Contract int64 `json:"contractId"`
	Cycle    int
	Amount   string
	At       time.Time
	Note     string
	Tags     []string
	Lines    []struct {
		VariantID int64 `json:"variantId"`
		Quantity  int
		Price     string
	}
}

// ledger returns the renewals of the contract, each as "cycle: variant×quantity@price …",
// the variants by the names that the story gave them.
func (s *subscription) ledger() (words []string, orders []ordered) {
	s.t.Helper()
	names := map[int64]string{}
	for i, v := range s.articles() {
		names[v.VariantID] = string(rune('A' + i))
	}
	var all []ordered
	s.call("GET", fmt.Sprintf("/platform/orders?contractId=%d", s.id), nil, &all)
	for _, o := range all {
		var lines []string
		for _, l := range o.Lines {
			lines = append(lines, fmt.Sprintf("%s×%d@%s", names[l.VariantID], l.Quantity, l.Price))
		}
		slices.Sort(lines)
		words = append(words, fmt.Sprintf("%d: %s", o.Cycle, strings.Join(lines, " ")))
		orders = append(orders, o)
	}
	return words, orders
}

// wantLedger asserts what every order of the contract held.
func (s *subscription) wantLedger(want ...string) {
	s.t.Helper()
	if got, _ := s.ledger(); !slices.Equal(got, want) {
		s.t.Errorf("orders:\n%s\nwant:\n%s", lines(got), lines(want))
	}
}

// article is what a store sells; a story calls them A, B, C, … in their order.
type article struct {
	VariantID int64 `json:"variantId"`
	Title     string
	Price     string
}

func (s *subscription) articles() []article {
	s.t.Helper()
	var list []article
	s.call("GET", "/platform/variants", nil, &list)
	if len(list) < 4 {
		s.t.Fatalf("the store sells only %d variants", len(list))
	}
	return list
}

// delete removes something over the admin interface and returns the status.
func (s *subscription) delete(path string, out any) int {
	s.t.Helper()
	return s.send("DELETE", s.urls.Subscriptions+api+path, s.key, nil, out)
}

func (s *subscription) post(path string, in, out any) int {
	s.t.Helper()
	return s.send("POST", s.urls.Subscriptions+api+path, s.key, in, out)
}

type oneOff struct {
	ID            int64
	Attempt       *int64 `json:"billingAttemptId"`
	Contract      int64  `json:"subscriptionContractId"`
	VariantID     int64  `json:"variantId"`
	VariantHandle *string
	Quantity      int
	Price         float64
	Shop          string
}

func oneOffPath(contract, attempt, variant int64, more string) string {
	return fmt.Sprintf("/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=%d&billingAttemptId=%d&variantId=%d%s", contract, attempt, variant, more)
}

func (s *subscription) upcomingOneOffs() []oneOff {
	s.t.Helper()
	var list []oneOff
	s.get(fmt.Sprintf("/upcoming-subscription-contract-one-offs-by-contractId?contractId=%d", s.id), &list)
	return list
}

const (
	oneOffAdded   = "MERCHANT_EXTERNAL_API ONE_TIME_PURCHASE_PRODUCT_ADDED SUCCESS"
	oneOffChanged = "MERCHANT_EXTERNAL_API ONE_TIME_PURCHASE_PRODUCT_UPDATE SUCCESS"
	oneOffRemoved = "MERCHANT_EXTERNAL_API ONE_TIME_PURCHASE_PRODUCT_REMOVED SUCCESS"
	oneOffMoved   = "SYSTEM_EVENT UPCOMING_ORDER_UPDATED SUCCESS"
)

func TestOneOffComesWithOneOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first := s.upcoming()[0]
	var list []oneOff
	if got := s.put(oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=2&variantHandle=cold-brew"), nil, &list); got != http.StatusOK {
		t.Fatalf("adding answered %d", got)
	}
	if len(list) != 1 || list[0].Attempt == nil || *list[0].Attempt != first.ID || list[0].Quantity != 2 || fmt.Sprintf("%.2f", list[0].Price) != v[1].Price {
		t.Fatalf("got %+v, want 2 of variant %d at %s", list, v[1].VariantID, v[1].Price)
	}
	again := list[0].ID
	if got := s.put(oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=2"), nil, &list); got != http.StatusOK || len(list) != 1 || list[0].ID != again {
		t.Errorf("saying it twice answered %d %+v", got, list)
	}
	var changed oneOff
	if got := s.put("/subscription-contract-one-offs-update-quantity", map[string]any{
		"contractId": s.id, "billingAttemptId": first.ID, "variantId": v[1].VariantID, "quantity": 3,
	}, &changed); got != http.StatusOK || changed.Quantity != 3 || changed.ID != again {
		t.Errorf("changing the quantity answered %d %+v", got, changed)
	}
	s.pass("PT1M")
	s.pass("P11D")
	s.wantLedger(fmt.Sprintf("1: A×2@12.50 B×3@%s", v[1].Price))
	if left := s.upcomingOneOffs(); len(left) != 0 {
		t.Errorf("upcoming one-time products after the order: %+v", left)
	}
	var all []oneOff
	s.get(fmt.Sprintf("/subscription-contract-one-offs-by-contractId?contractId=%d", s.id), &all)
	if len(all) != 1 || all[0].Attempt == nil || *all[0].Attempt != first.ID {
		t.Errorf("all one-time products: %+v", all)
	}
	if got := s.put(oneOffPath(s.id, s.upcoming()[0].ID, v[2].VariantID, ""), nil, &list); got != http.StatusOK || len(list) != 2 {
		t.Errorf("adding to the next order answered %d %+v, want all one-time products of the contract", got, list)
	}
	s.pass("P30D")
	s.wantLedger(fmt.Sprintf("1: A×2@12.50 B×3@%s", v[1].Price), fmt.Sprintf("2: A×2@12.50 C×1@%s", v[2].Price))
	if got := s.delete(oneOffPath(s.id, first.ID, v[1].VariantID, ""), nil); got != http.StatusBadRequest {
		t.Errorf("removing from an order that was made answered %d", got)
	}
	s.wantEntries(created, oneOffAdded, oneOffChanged, charged, oneOffAdded, charged)
}

func TestAttemptShowsItsOneOffs(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first := s.upcoming()[0]
	s.put(oneOffPath(s.id, first.ID, v[1].VariantID, ""), nil, nil)
	show := func(list string) []int64 {
		var attempts []struct {
			VariantList []struct {
				VariantID int64 `json:"variantId"`
			} `json:"variantList"`
		}
		s.get(fmt.Sprintf("/subscription-billing-attempts/%s?contractId=%d", list, s.id), &attempts)
		var ids []int64
		for _, a := range attempts[:min(2, len(attempts))] {
			for _, v := range a.VariantList {
				ids = append(ids, v.VariantID)
			}
		}
		return ids
	}
	if got, want := show("top-orders"), []int64{v[0].VariantID, v[1].VariantID, v[0].VariantID}; !slices.Equal(got, want) {
		t.Errorf("the next two orders hold %v, want %v", got, want)
	}
	s.pass("P11D")
	if got, want := show("past-orders"), []int64{v[0].VariantID, v[1].VariantID}; !slices.Equal(got, want) {
		t.Errorf("the past order held %v, want %v", got, want)
	}
}

func TestOneOffsOfSkippedOrderMoveToTheNext(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first, second := s.upcoming()[0], s.upcoming()[1]
	s.put(oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=2"), nil, nil)
	s.put(oneOffPath(s.id, second.ID, v[1].VariantID, ""), nil, nil)
	s.put(oneOffPath(s.id, first.ID, v[2].VariantID, ""), nil, nil)
	s.pass("PT1M")
	skip := fmt.Sprintf("/subscription-billing-attempts/skip-order/%d", first.ID)
	if got := s.put(skip, nil, nil); got != http.StatusOK {
		t.Fatalf("skipping answered %d", got)
	}
	got := s.upcomingOneOffs()
	if len(got) != 2 || *got[0].Attempt != second.ID || *got[1].Attempt != second.ID || got[0].Quantity+got[1].Quantity != 4 {
		t.Fatalf("after the skip: %+v, want 3 of B and 1 of C with the second order", got)
	}
	if got := s.put(fmt.Sprintf("/subscription-billing-attempts/unskip-order/%d", first.ID), nil, nil); got != http.StatusOK {
		t.Fatalf("taking the skip back answered %d", got)
	}
	s.pass("P45D")
	s.wantLedger("1: A×2@12.50", fmt.Sprintf("2: A×2@12.50 B×3@%s C×1@%s", v[1].Price, v[2].Price))
	s.wantEntries(created, oneOffAdded, oneOffAdded, oneOffAdded, oneOffMoved, oneOffMoved, skipped, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", charged, charged)
}

// An order that was put behind others is not the next one, and may be the last.
func TestOneOffsOfSkippedOrderComeWithTheNextMadeOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1, "maxCycles": 3}})
	v := s.articles()
	queue := s.upcoming()
	s.reschedule(1, "2027-01-20", false)
	s.put(oneOffPath(s.id, queue[0].ID, v[1].VariantID, ""), nil, nil)
	for _, next := range []attempt{queue[2], queue[1]} {
		s.skipNumber(0)
		if got := s.upcomingOneOffs(); len(got) != 1 || *got[0].Attempt != next.ID {
			t.Fatalf("after the skip: %+v, want the product with order %d", got, next.ID)
		}
	}
	s.until("2027-01-21")
	s.wantLedger(fmt.Sprintf("2: A×2@12.50 B×1@%s", v[1].Price))
}

func TestOneOffCanBeRemoved(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first := s.upcoming()[0]
	s.put(oneOffPath(s.id, first.ID, v[1].VariantID, ""), nil, nil)
	s.pass("PT1M")
	if got := s.ownOrders(); got != 1 {
		t.Errorf("the platform shows %d cycles with orders of their own, want the one that carries the product", got)
	}
	var list []oneOff
	if got := s.delete(oneOffPath(s.id, first.ID, v[1].VariantID, ""), &list); got != http.StatusOK || len(list) != 0 {
		t.Errorf("removing answered %d %+v", got, list)
	}
	if got := s.delete(oneOffPath(s.id, first.ID, v[1].VariantID, ""), &list); got != http.StatusOK || len(list) != 0 {
		t.Errorf("removing again answered %d %+v", got, list)
	}
	s.pass("PT1M")
	if got := s.ownOrders(); got != 0 {
		t.Errorf("the platform still shows %d cycles with orders of their own", got)
	}
	s.pass("P11D")
	s.wantLedger("1: A×2@12.50")
	s.wantEntries(created, oneOffAdded, oneOffRemoved, charged)
}

// ownOrders counts the contract's cycles that order something else than the
// contract says.
func (s *subscription) ownOrders() int {
	s.t.Helper()
	var cycles []struct{ ContractEdit *struct{ Note string } }
	s.call("GET", fmt.Sprintf("/platform/cycles?contractId=%d", s.id), nil, &cycles)
	n := 0
	for _, c := range cycles {
		if c.ContractEdit != nil {
			n++
		}
	}
	return n
}

func TestOneOffsOfEndedContractAreDropped(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.put(oneOffPath(s.id, s.upcoming()[0].ID, v[1].VariantID, ""), nil, nil)
	s.pass("PT1M")
	if got := s.delete(fmt.Sprintf("/subscription-contracts/%d", s.id), nil); got != http.StatusNoContent {
		t.Fatalf("cancelling answered %d", got)
	}
	s.pass("PT1M")
	var all []oneOff
	s.get(fmt.Sprintf("/subscription-contract-one-offs-by-contractId?contractId=%d", s.id), &all)
	if len(all) != 0 {
		t.Errorf("after the cancellation: %+v", all)
	}
}

func TestOneOffsSurvivePause(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.put(oneOffPath(s.id, s.upcoming()[0].ID, v[1].VariantID, ""), nil, nil)
	s.pass("PT1M")
	for _, status := range []string{"PAUSED", "ACTIVE"} {
		if got := s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, status), nil, nil); got != http.StatusNoContent {
			t.Fatalf("setting %s answered %d", status, got)
		}
		s.pass("P1D")
	}
	s.pass("P10D")
	s.wantLedger(fmt.Sprintf("1: A×2@12.50 B×1@%s", v[1].Price))
}

func TestInvalidOneOffsAreRefused(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	first := s.upcoming()[0]
	other := s.checkout(nil)
	for name, test := range map[string]struct {
		path string
		want int
		key  string
	}{
		"no variant":                         {fmt.Sprintf("/subscription-contract-one-offs-by-contractId-and-billing-attempt-id?contractId=%d&billingAttemptId=%d", s.id, first.ID), 400, "parameterMissing"},
		"none of it":                         {oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=0"), 400, "invalid"},
		"too many of it":                     {oneOffPath(s.id, first.ID, v[1].VariantID, "&quantity=1000"), 400, "invalid"},
		"a handle that is none":              {oneOffPath(s.id, first.ID, v[1].VariantID, "&variantHandle=Cold_Brew"), 400, "invalid"},
		"a variant that the store has not":   {oneOffPath(s.id, first.ID, 4711, ""), 404, "variantNotFound"},
		"a contract that the store has not":  {oneOffPath(4711, first.ID, v[1].VariantID, ""), 404, "contractNotFound"},
		"a variant that is not a graph id's": {strings.Replace(oneOffPath(s.id, first.ID, 1, ""), "variantId=1", "variantId=gid://shopify/Product/1", 1), 400, "invalid"},
	} {
		if got := s.demand("PUT", test.path, s.key, nil); got.status != test.want || got.errorKey() != test.key {
			t.Errorf("%s: answered %d %s, want %d %s", name, got.status, got.errorKey(), test.want, test.key)
		}
	}
	for name, path := range map[string]string{
		"an order that there is not":        oneOffPath(s.id, 4711, v[1].VariantID, ""),
		"another contract than the order's": oneOffPath(other, first.ID, v[1].VariantID, ""),
	} {
		if got := s.delete(path, nil); got != http.StatusNotFound {
			t.Errorf("%s: removing answered %d, want 404", name, got)
		}
	}
	if got := s.upcomingOneOffs(); len(got) != 0 {
		t.Errorf("added all the same: %+v", got)
	}
	want(t, s.demand("PUT", oneOffPath(s.id, first.ID, v[1].VariantID, ""), s.key, nil), http.StatusOK, "")
}

func TestOrderCarriesContractNoteAndItsOwn(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"note": "leave at the door"})
	first := s.upcoming()[0]
	if got := s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "orderNote": "ring twice\nplease"}, nil); got != http.StatusOK {
		t.Fatalf("editing answered %d", got)
	}
	s.pass("P45D")
	_, orders := s.ledger()
	if len(orders) != 2 || orders[0].Note != "leave at the door\nring twice\nplease" || orders[1].Note != "leave at the door" {
		t.Errorf("orders %+v", orders)
	}
	s.wantEntries(created, "MERCHANT_EXTERNAL_API BILLING_ATTEMPT_UPDATED SUCCESS", charged, charged)
}

// Whatever happens to the calls, the order holds what it should hold, once.
func TestOneOffsUnderFaultsAreOrderedOnce(t *testing.T) {
	t.Parallel()
	for name, kinds := range map[string][]string{
		"answers are lost":          {"timeout_after"},
		"nothing is sure":           {"timeout_after", "timeout_before", "http_500", "throttled", "connection_reset", "webhook_lost", "webhook_duplicated"},
		"the platform is away":      {"http_500"},
		"connections break halfway": {"connection_reset", "timeout_after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, map[string]any{"note": "always"})
			v := s.articles()
			first := s.upcoming()[0]
			s.put(oneOffPath(s.id, first.ID, v[1].VariantID, ""), nil, nil)
			s.put(oneOffPath(s.id, first.ID, v[2].VariantID, "&quantity=2"), nil, nil)
			s.put("/subscription-billing-attempts", map[string]any{"id": first.ID, "orderNote": "once"}, nil)
			rate := 0.4
			if name == "the platform is away" {
				s.pass("P9DT12H")
				rate = 1
			}
			s.call("POST", "/platform/faults", map[string]any{"rate": rate, "kinds": kinds, "seed": 7, "for": "P1D"}, nil)
			s.pass("P1D")
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P13D")
			s.wantLedger(fmt.Sprintf("1: A×2@12.50 B×1@%s C×2@%s", v[1].Price, v[2].Price))
			if _, orders := s.ledger(); len(orders) == 1 && orders[0].Note != "always\nonce" {
				t.Errorf("the order's note is %q", orders[0].Note)
			}
		})
	}
}

func TestOrdersAndCustomersGetPlanTags(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	var made struct {
		Plans []struct {
			IDNew string `json:"idNew"`
		} `json:"subscriptionPlans"`
	}
	body := monthlyGroup("Tagged")
	body["customerTag"], body["orderTag"], body["memberOrderTag"] = "subscriber, loyal", "begun", "renewal"
	if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated || len(made.Plans) != 1 {
		t.Fatalf("making a group answered %d %+v", got, made)
	}
	s.call("POST", "/platform/faults", map[string]any{"rate": 0.3, "kinds": []string{"timeout_after", "http_500"}, "seed": 3, "for": "P12D"}, nil)
	var contract struct {
		ID         int64
		CustomerID int64 `json:"customerId"`
	}
	s.call("POST", "/platform/contracts", map[string]any{
		"customer":     map[string]any{"email": "eva@shopper.example", "firstName": "Eva", "lastName": "Sol"},
		"currencyCode": "USD", "nextBillingDate": s.now().AddDate(0, 0, 10), "billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1}, "paymentMethod": "valid",
		"lines": []any{map[string]any{"variantId": s.articles()[0].VariantID, "quantity": 1, "currentPrice": "9.00", "sellingPlanId": made.Plans[0].IDNew}},
	}, &contract)
	s.id = contract.ID
	s.pass("P14D")
	if _, orders := s.ledger(); len(orders) != 1 || !slices.Equal(orders[0].Tags, []string{"renewal"}) {
		t.Errorf("orders %+v, want one that is tagged as a renewal", orders)
	}
	var customer struct{ Tags []string }
	s.call("GET", fmt.Sprintf("/platform/customers/%d", contract.CustomerID), nil, &customer)
	slices.Sort(customer.Tags)
	if !slices.Equal(customer.Tags, []string{"loyal", "subscriber"}) {
		t.Errorf("the customer's tags are %v", customer.Tags)
	}
}

// A membership is bought on its plan: as a one-time product in a box it
// would be paid and give nothing.
func TestPlanOnlyProductIsNoOneOff(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	order := s.upcoming()[0]
	var membership, coffee int64
	for _, v := range s.articles() {
		if strings.Contains(v.Title, "Membership") {
			membership = v.VariantID
		} else {
			coffee = v.VariantID
		}
	}
	if membership == 0 || coffee == 0 {
		t.Fatalf("the store sells %+v", s.articles())
	}
	want(t, s.demand("PUT", oneOffPath(s.id, order.ID, membership, ""), s.key, nil), http.StatusBadRequest, "sellingPlanRequired")
	if got := s.put(oneOffPath(s.id, order.ID, coffee, ""), nil, nil); got != http.StatusOK {
		t.Errorf("a product that is sold without a plan answered %d", got)
	}
	if list := s.upcomingOneOffs(); len(list) != 1 || list[0].VariantID != coffee {
		t.Errorf("one-time products %+v, want the coffee alone", list)
	}
	s.wantEntries(created, oneOffAdded)
}
