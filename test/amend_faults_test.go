package test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// repeat sends a request under an Idempotency-Key and returns the status.
func (s *subscription) repeat(method, path, key string, body, out any) int {
	s.t.Helper()
	return s.sendWith(method, s.urls.Subscriptions+api+path, s.key, map[string]string{"Idempotency-Key": key}, body, out)
}

// twoLines makes a contract with two lines in a store whose rate is no matter.
func twoLines(t *testing.T) (*subscription, []string) {
	t.Helper()
	s := subscribeChecked(t, nil)
	s.call("POST", "/settings", map[string]any{"requestsPerSecond": 1000, "requestBurst": 1000, "enableImmediatePlaceOrder": true}, nil)
	sold := s.variants()
	line := func(i int) map[string]any {
		return map[string]any{"variantId": sold[i], "quantity": 1, "currentPrice": "10.00"}
	}
	s.id = s.checkout(map[string]any{"lines": []any{line(0), line(1)}, "nextBillingDate": s.now().AddDate(0, 0, 20)})
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	return s, []string{o.Lines.Nodes[0].ID, o.Lines.Nodes[1].ID}
}

// ordered counts the orders by their amounts.
func (s *subscription) ordered() map[string]int {
	s.t.Helper()
	amounts := map[string]int{}
	for _, o := range s.orders() {
		amounts[o.Amount]++
	}
	return amounts
}

// A code for one contract that six contracts ask for at once is on one of them.
func TestDiscountCodeKeepsItsUsageLimitUnderConcurrentUse(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	s.call("POST", "/platform/discount-codes", map[string]any{"code": "ONCE", "percent": 10, "usageLimit": 1}, nil)
	ids := make([]int64, 6)
	for i := range ids {
		ids[i] = s.checkout(map[string]any{"customer": map[string]any{"email": fmt.Sprintf("shopper%d@shopper.example", i), "firstName": "Ana", "lastName": "Silva"}})
	}
	codes := make([]int, len(ids))
	var together sync.WaitGroup
	for i, id := range ids {
		together.Go(func() {
			codes[i] = s.put(fmt.Sprintf("/subscription-contracts-apply-discount?discountCode=ONCE&contractId=%d", id), nil, nil)
		})
	}
	together.Wait()
	var applied, carried int
	for i, code := range codes {
		switch code {
		case http.StatusOK:
			applied++
		case http.StatusBadRequest, http.StatusUnprocessableEntity:
		default:
			t.Errorf("contract %d answered %d", ids[i], code)
		}
		if o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", ids[i]), nil); len(o.Discounts.Nodes) > 0 {
			carried++
		}
	}
	if applied != 1 || carried != 1 {
		t.Errorf("%d requests were answered 200 and %d contracts carry the code, want 1 and 1: %v", applied, carried, codes)
	}
}

// A split may be requested by anyone, repeated, and lose any answer: each line is
// in one contract in the end, and charged once.
func TestSplitUnderFaultsHappensOnce(t *testing.T) {
	t.Parallel()
	t.Run("by eight at once", func(t *testing.T) {
		t.Parallel()
		s, lines := twoLines(t)
		path := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d", s.id)
		codes := make([]int, 8)
		var together sync.WaitGroup
		for i := range codes {
			together.Go(func() {
				codes[i] = s.send("POST", s.urls.Subscriptions+api+path, s.key, []string{lines[1]}, nil)
			})
		}
		together.Wait()
		made := 0
		for _, code := range codes {
			if code == http.StatusOK {
				made++
			} else if code != http.StatusConflict && code != http.StatusBadRequest {
				t.Errorf("a split answered %d", code)
			}
		}
		if made != 1 {
			t.Errorf("%d splits were made", made)
		}
		s.wantSplit()
	})
	for _, seed := range sample([]int{0, 1, 2, 3, 4, 5}) {
		t.Run(fmt.Sprintf("with faults %d", seed), func(t *testing.T) {
			t.Parallel()
			s, lines := twoLines(t)
			path := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d", s.id)
			s.call("POST", "/platform/faults", map[string]any{"rate": 0.4, "kinds": []string{"timeout_after", "timeout_before", "http_500", "connection_reset"}, "seed": seed}, nil)
			first := s.repeat("POST", path, "k", []string{lines[1]}, nil)
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("PT2H") // what was begun is finished, or given up
			if again := s.repeat("POST", path, "k", []string{lines[1]}, nil); first == http.StatusOK && again != http.StatusOK {
				t.Errorf("the repetition answered %d", again)
			}
			s.pass("PT2H")
			s.wantSplit()
		})
	}
}

// With answers lost, a contract that is split off has each discount once.
func TestSplitUnderFaultsCopiesDiscountsOnce(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		t.Run(fmt.Sprintf("with faults %d", seed), func(t *testing.T) {
			t.Parallel()
			s, lines := twoLines(t)
			s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=50&contractId=%d", s.id), nil)
			path := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d", s.id)
			s.call("POST", "/platform/faults", map[string]any{"rate": 0.4, "kinds": []string{"timeout_after", "timeout_before", "http_500", "connection_reset"}, "seed": seed}, nil)
			s.repeat("POST", path, "k", []string{lines[1]}, nil)
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P25D")
			got := fmt.Sprint(s.ordered())
			if got != "map[25.00:1 5.00:2]" && got != "map[10.00:1 25.00:1]" {
				t.Errorf("orders over %s, want each line once at half its price", got)
			}
		})
	}
}

// wantSplit asserts that the two lines are in two contracts, or still in one, and
// that each is charged once.
func (s *subscription) wantSplit() {
	s.t.Helper()
	s.pass("P25D")
	got := fmt.Sprint(s.ordered())
	if got != "map[10.00:2 25.00:1]" && got != "map[20.00:1 25.00:1]" {
		s.t.Errorf("orders over %s, want each line once", got)
	}
}

// A repeated request creates one contract, also when the first answer was lost.
func TestRepeatedCreateMakesOneContract(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		t.Run(fmt.Sprintf("with faults %d", seed), func(t *testing.T) {
			t.Parallel()
			s, _ := twoLines(t)
			var customer []struct{ CustomerID int64 }
			s.get("/subscription-contract-details?size=1", &customer)
			body := map[string]any{
				"customerId": customer[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 10).Format(time.RFC3339), "billingIntervalType": "MONTH", "billingIntervalCount": 1,
				"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT", "orderNote": "made by hand",
				"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": 7}},
			}
			s.call("POST", "/platform/faults", map[string]any{"rate": 0.4, "kinds": []string{"timeout_after", "http_500", "connection_reset"}, "seed": seed}, nil)
			s.repeat("POST", "/subscription-contract-details/create-subscription-contract", "k", body, nil)
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("PT2H")
			if got := s.repeat("POST", "/subscription-contract-details/create-subscription-contract", "k", body, nil); got != http.StatusCreated {
				t.Errorf("the repetition answered %d", got)
			}
			var rows []struct{ OrderNote *string }
			s.get("/subscription-contract-details?size=100", &rows)
			made := 0
			for _, r := range rows {
				if r.OrderNote != nil && *r.OrderNote == "made by hand" {
					made++
				}
			}
			if made != 1 {
				t.Errorf("%d contracts were made", made)
			}
		})
	}
}

// Of changes that are made at once none is lost.
func TestConcurrentAttributeMergesAreAllKept(t *testing.T) {
	t.Parallel()
	s, _ := twoLines(t)
	kept := make([]bool, 8)
	var together sync.WaitGroup
	for i := range kept {
		together.Go(func() {
			body := map[string]any{"subscriptionContractId": s.id, "customAttributesList": []any{map[string]string{"key": fmt.Sprint("k", i), "value": "v"}}}
			switch got := s.put("/subscription-contracts-update-custom-note-attributes?overwriteExistingAttributes=false", body, nil); got {
			case http.StatusOK:
				kept[i] = true
			case http.StatusConflict:
			default:
				t.Errorf("merging answered %d", got)
			}
		})
	}
	together.Wait()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	has := map[string]bool{}
	for _, a := range o.CustomAttributes {
		has[a.Key] = true
	}
	for i, ok := range kept {
		if ok != has[fmt.Sprint("k", i)] {
			t.Errorf("attribute k%d: answered %t, there %t", i, ok, has[fmt.Sprint("k", i)])
		}
	}
}

// A plan of the other line does not take a contract away from its host.
func TestPlanOfOtherHostIsRefused(t *testing.T) {
	t.Parallel()
	s, lines := twoLines(t)
	var group struct {
		ID    int64
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	body := map[string]any{"groupName": "Club", "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH", "planType": "PAY_AS_YOU_GO",
	}}}
	if got := s.send("POST", s.urls.Memberships+api+"/subscription-groups", s.key, body, &group); got != http.StatusCreated {
		t.Fatalf("the group answered %d", got)
	}
	plan := group.Plans[0].IDNew
	s.refused(http.StatusNotFound, "PUT", fmt.Sprintf("/subscription-contracts-update-line-item-selling-plan?contractId=%d&lineId=%s&sellingPlanId=%s", s.id, lines[0], plan), nil)
	s.refused(http.StatusNotFound, "PUT", fmt.Sprintf("/subscription-contracts-add-line-items?contractId=%d", s.id), []any{map[string]any{"variantId": s.variants()[2], "quantity": 1, "sellingPlanId": plan}})
	s.refused(http.StatusNotFound, "PUT", fmt.Sprintf("/subscription-contracts-update-frequency-by-selling-plan?contractId=%d&sellingPlanId=%s", s.id, plan), nil)
	s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
}

// Each order is charged the price of its cycle until a request sets another price.
func TestCyclePricesAreCharged(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	line := url.QueryEscape(o.Lines.Nodes[0].ID)
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-pricing-policy?contractId=%d&lineId=%s&basePrice=20", s.id, line),
		[]any{map[string]any{"afterCycle": 0, "discountType": "PERCENTAGE", "value": 10}, map[string]any{"afterCycle": 2, "discountType": "PRICE", "value": 5}})
	if got := o.Lines.Nodes[0].CurrentPrice.Amount; got != "18.00" {
		t.Errorf("the line costs %s now, want 18.00", got)
	}
	s.pass("P100D")
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-price?contractId=%d&lineId=%s&basePrice=7", s.id, line), nil)
	s.pass("P31D")
	var amounts []string
	for _, o := range s.orders() {
		amounts = append(amounts, o.Amount)
	}
	if fmt.Sprint(amounts) != "[36.00 36.00 10.00 14.00 14.00]" {
		t.Errorf("orders over %v, want two at 18, one at 5 and two at 7, twice each", amounts)
	}
}

// A line without a policy at the platform, as imported ones are, is charged what
// the plan of ours says that it is on.
func TestPlanPricesAreChargedWithoutPlatformPolicy(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, map[string]any{"nextBillingDate": "2030-01-01"}) // opens the store
	sold := s.articles()
	var group struct {
		Plans []struct{ IDNew string } `json:"subscriptionPlans"`
	}
	if got := s.post("/subscription-groups", map[string]any{"groupName": "Tea club", "subscriptionPlans": []any{map[string]any{
		"frequencyName": "Every month", "frequencyCount": 1, "frequencyInterval": "MONTH", "billingFrequencyCount": 1, "billingFrequencyInterval": "MONTH",
		"discountEnabled": true, "discountOffer": 50, "discountType": "PERCENTAGE", "afterCycle1": 0,
		"discountEnabled2": true, "discountOffer2": 5, "discountType2": "PRICE", "afterCycle2": 3,
	}}}, &group); got != http.StatusCreated {
		t.Fatalf("the group answered %d", got)
	}
	plan := group.Plans[0].IDNew[strings.LastIndex(group.Plans[0].IDNew, "/")+1:]
	line := func(price string) map[string]any {
		return map[string]any{"lines": []any{map[string]any{"variantId": sold[0].VariantID, "quantity": 2, "currentPrice": price, "sellingPlanId": plan}}}
	}
	base, err := strconv.ParseFloat(sold[0].Price, 64)
	if err != nil {
		t.Fatal(err)
	}
	half := fmt.Sprintf("%.2f", math.Floor(base*50)/100)
	twice := fmt.Sprintf("%.2f", 2*math.Floor(base*50)/100)
	onPlan, byHand := s.checkout(line(half)), s.checkout(line("7.77"))
	s.pass("PT1M")
	foretold := make(map[int64][]string)
	for _, id := range []int64{onPlan, byHand} {
		s.id = id
		for _, a := range s.upcoming()[:4] {
			foretold[id] = append(foretold[id], fmt.Sprintf("%.2f", s.explain(a.ID).Prices.LinesTotal))
		}
	}
	s.pass("P110D")
	// The checkout was the first order: the third renewal is the fourth order.
	for id, want := range map[int64]string{
		onPlan: fmt.Sprintf("[%s %s 10.00 10.00]", twice, twice), byHand: "[15.54 15.54 15.54 15.54]",
	} {
		s.id = id
		var amounts []string
		_, orders := s.ledger()
		for _, o := range orders {
			amounts = append(amounts, o.Amount)
		}
		if fmt.Sprint(amounts) != want {
			t.Errorf("contract %d: orders over %v, want %s", id, amounts, want)
		}
		if fmt.Sprint(foretold[id]) != want {
			t.Errorf("contract %d: explained before as orders over %v, want %s", id, foretold[id], want)
		}
	}
}
