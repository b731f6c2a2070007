package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

type swapRule struct {
	ID                   int64
	Shop                 string
	Name                 *string
	SourceVariants       string
	DestinationVariants  string
	RuleSequence         int
	ForBillingCycle      *int
	DiscountCarryForward string
	ChangeNextOrder      *float64 `json:"changeNextOrderDateBy"`
	EveryOrder           bool     `json:"checkForEveryRecurringOrder"`
}

// products is the JSON text of variants and their quantities.
func products(pairs ...int64) string {
	var list []map[string]int64
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]int64{"id": pairs[i], "quantity": pairs[i+1]})
	}
	text, _ := json.Marshal(list)
	return string(text)
}

// swap adds a rule.
func (s *subscription) swap(from, to string, more map[string]any) swapRule {
	s.t.Helper()
	body := map[string]any{"shop": "demo.myshopify.com", "name": "rule", "sourceVariants": from, "destinationVariants": to}
	for k, v := range more {
		body[k] = v
	}
	var made swapRule
	if got := s.post("/product-swaps", body, &made); got != http.StatusCreated || made.ID == 0 {
		s.t.Fatalf("adding a rule answered %d %+v", got, made)
	}
	return made
}

const (
	ruleMade    = "MERCHANT_EXTERNAL_API CREATED SUCCESS"
	swapDone    = "SYSTEM_EVENT SWAP_AUTOMATION_TRIGGERED SUCCESS"
	swapReplace = "SYSTEM_EVENT PRODUCT_REPLACE SUCCESS"
	swapNotice  = "SYSTEM_EVENT PRODUCT_PRICE_CHANGE SUCCESS"
	dateMoved   = "SYSTEM_EVENT NEXT_BILLING_DATE_CHANGE SUCCESS"
)

// later is a first order that comes ten days after the notice of a rule that is made now is over.
func later(more map[string]any) map[string]any {
	change := map[string]any{"nextBillingDate": time.Date(2026, 11, 25, 14, 0, 0, 0, time.UTC)}
	maps.Copy(change, more)
	return change
}

// notice lets the time pass after which the prices of rules count.
func (s *subscription) notice() { s.pass("P14D") }

func TestPermanentRuleChangesContractFromFirstMatch(t *testing.T) {
	t.Parallel()
	s := subscribe(t, later(nil))
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), nil)
	s.notice()
	s.pass("P45D")
	s.wantLedger(fmt.Sprintf("1: B×2@%s", v[1].Price), fmt.Sprintf("2: B×2@%s", v[1].Price))
	s.wantEntries(created, ruleMade, swapNotice, swapDone, swapReplace, charged, charged)
}

func TestOneCycleRuleChangesOneOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 2), products(v[1].VariantID, 1, v[2].VariantID, 3), map[string]any{"forBillingCycle": 2, "discountCarryForward": "none"})
	s.pass("P75D")
	s.wantLedger("1: A×2@12.50", fmt.Sprintf("2: B×1@%s C×3@%s", v[1].Price, v[2].Price), "3: A×2@12.50")
	s.wantEntries(created, ruleMade, swapNotice, swapNotice, charged, swapDone, swapReplace, charged, charged)
}

func TestChainedRulesKeepOneOffs(t *testing.T) {
	t.Parallel()
	s := subscribe(t, later(nil))
	v := s.articles()
	second := s.upcoming()[1]
	s.put(oneOffPath(s.id, second.ID, v[3].VariantID, ""), nil, nil)
	s.pass("PT1M")
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), nil)
	s.swap(products(v[1].VariantID, 1), products(v[2].VariantID, 1), map[string]any{"forBillingCycle": 1})
	s.notice()
	s.pass("P45D")
	s.wantLedger(fmt.Sprintf("1: C×2@%s", v[2].Price), fmt.Sprintf("2: B×2@%s D×1@%s", v[1].Price, v[3].Price))
}

func TestSwapMovesFollowingOrders(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"changeNextOrderDateBy": 5})
	s.pass("P75D")
	_, orders := s.ledger()
	want := []time.Time{time.Date(2026, 11, 11, 14, 0, 0, 0, time.UTC), time.Date(2026, 12, 16, 14, 0, 0, 0, time.UTC)}
	if len(orders) != 2 || orders[0].At.Sub(want[0]).Abs() > time.Hour || orders[1].At.Sub(want[1]).Abs() > time.Hour {
		t.Errorf("orders %+v, want them on %s", orders, want)
	}
	if queue := s.upcoming(); !queue[0].BillingDate.Equal(time.Date(2027, 1, 16, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the next order is on %s, want January 16", queue[0].BillingDate)
	}
	s.wantEntries(created, ruleMade, swapNotice, swapDone, swapReplace, dateMoved, charged, swapNotice, charged)
}

// An order that is prepared again because it was declined moves those after it once.
func TestOneCycleSwapMovesFollowingOrdersOnce(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"forBillingCycle": 1, "changeNextOrderDateBy": 3})
	s.declines("CARD_DECLINED", 3)
	s.until("2026-12-20")
	s.wantOrderDays("[11-16 12-14]")
	s.wantLedger("1: B×2@12.50", "2: A×2@12.50")
	s.wantEntries(
		created, ruleMade, swapDone, swapReplace, dateMoved, declined, "SYSTEM_EVENT SEND_TRANSACTION_FAILED_EMAIL SUCCESS", declined, declined, charged, charged,
	)
}

// An order that a person had moved is moved by the rule's days too, and the orders after
// it from their own dates.
func TestSwapMovesCalendarAndKeepsChosenDates(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"forBillingCycle": 1, "changeNextOrderDateBy": 3})
	s.reschedule(1, "2026-12-20", false)
	s.until("2027-02-20")
	s.wantOrderDays("[11-11 12-23 01-14 02-14]")
}

// An order that was put behind others is not the next one.
func TestSwapMovesNextMadeOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"forBillingCycle": 1, "changeNextOrderDateBy": 3})
	s.reschedule(1, "2027-01-25", false)
	s.until("2027-03-01")
	s.wantOrderDays("[11-11 01-14 01-25 02-14]")
}

// An order that waits behind one that was made, and from whose day the later ones are
// counted, takes them with it. The second order is that, and the fourth is made before it.
func TestSwapMovesCalendarBehindMadeOrders(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(s *subscription){"as it was moved": func(*subscription) {}, "it stood still": (*subscription).standStill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			s.reschedule(1, "2027-01-20", false)
			s.until("2027-01-12")
			s.reschedule(0, "2027-02-20", true)
			s.reschedule(1, "2027-02-15", false)
			do(s)
			v := s.articles()
			s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"changeNextOrderDateBy": 5})
			s.until("2027-05-30")
			s.wantOrderDays("[11-11 01-11 02-15 02-25 04-25 05-25]")
		})
	}
}

// A rule that moves orders back by more days than there are moves none before the order
// that it is applied to: the next one comes on the day after that, and those that follow
// move by as many days as it did.
func TestSwapMovesNoOrderIntoThePast(t *testing.T) {
	t.Parallel()
	for _, row := range sample([]struct {
		name string
		do   func(s *subscription)
		want string // days of the orders until May 30
		made int    // how many of them when the rule is added
	}{
		{"the next order is that of the calendar", func(s *subscription) { s.reschedule(0, "2027-01-11", true) }, "[01-11 01-12 02-12 03-12 04-12 05-12]", 0},
		{"the next order was moved", func(s *subscription) {
			s.reschedule(0, "2027-01-11", true)
			s.reschedule(1, "2027-01-20", false)
		}, "[01-11 01-12 03-03 04-03 05-03]", 0},
		{"it was moved to the day after", func(s *subscription) {
			s.reschedule(0, "2027-01-11", true)
			s.reschedule(1, "2027-01-12", false)
		}, "[01-11 01-12 03-11 04-11 05-11]", 0},
		{"the next order waits behind orders that were made", func(s *subscription) {
			s.reschedule(1, "2027-01-20", false)
			s.until("2027-01-12")
			s.reschedule(0, "2027-02-20", true)
			s.reschedule(1, "2027-02-15", false)
		}, "[11-11 01-11 02-15 02-16 04-16 05-16]", 2},
	}) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.t = t
			row.do(s)
			v := s.articles()
			s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"changeNextOrderDateBy": -70})
			var foreseen []struct{ OrderDate time.Time }
			if got := s.post(fmt.Sprintf("/product-swaps-by-variant-groups/%d", s.id), nil, &foreseen); got != http.StatusOK {
				t.Fatalf("answered %d", got)
			}
			s.until("2027-05-30")
			s.wantOrderDays(row.want)
			var days []string
			for _, o := range foreseen {
				days = append(days, o.OrderDate.Format("01-02"))
			}
			if to := strings.Fields(strings.Trim(row.want, "[]"))[row.made:]; !slices.Equal(days[:len(to)], to) {
				t.Errorf("foreseen %v, made %v", days, to)
			}
		})
	}
}

func TestSwapCarriesExistingDiscount(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.id = s.checkout(later(map[string]any{"lines": []any{map[string]any{"variantId": v[1].VariantID, "quantity": 1, "currentPrice": half(t, v[1].Price)}}}))
	s.swap(products(v[1].VariantID, 1), products(v[2].VariantID, 1), map[string]any{"carryDiscountForward": true})
	s.notice()
	s.pass("P11D")
	s.wantLedger(fmt.Sprintf("1: C×1@%s", half(t, v[2].Price)))
}

// half halves a price of an even number of cents.
func half(t *testing.T, price string) string {
	t.Helper()
	var whole, cents int
	if _, err := fmt.Sscanf(price, "%d.%d", &whole, &cents); err != nil {
		t.Fatal(err)
	}
	n := (whole*100 + cents) / 2
	return fmt.Sprintf("%d.%02d", n/100, n%100)
}

func TestSwapsUnderFaultsHappenOnce(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]map[string]any{
		"answers are lost":     {"rate": 0.4, "kinds": []string{"timeout_after"}, "seed": 3},
		"nothing is sure":      {"rate": 0.3, "kinds": []string{"timeout_after", "timeout_before", "http_500", "throttled", "connection_reset", "webhook_lost"}, "seed": 5},
		"the platform is away": {"rate": 1, "kinds": []string{"http_500"}, "seed": 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribeChecked(t, later(nil))
			v := s.articles()
			s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"changeNextOrderDateBy": 3})
			s.swap(products(v[1].VariantID, 2), products(v[2].VariantID, 1), map[string]any{"forBillingCycle": 1})
			s.notice()
			s.pass("P9DT12H")
			faults["for"] = "P1D"
			s.call("POST", "/platform/faults", faults, nil)
			s.pass("P1D")
			s.call("DELETE", "/platform/faults", nil, nil)
			s.pass("P34D")
			s.wantLedger(fmt.Sprintf("1: C×1@%s", v[2].Price), fmt.Sprintf("2: B×2@%s", v[1].Price))
		})
	}
}

func TestUnavailableReplacementDoesNotBlockOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	for name, row := range map[string]struct {
		from string
		want int
	}{"no product": {"[]", 400}, "a product that the store has not": {products(4711, 1), 404}, "no list": {"4711", 400}, "half a list": {"[{", 400}} {
		if got := s.post("/product-swaps", map[string]any{"sourceVariants": row.from, "destinationVariants": products(v[1].VariantID, 1)}, nil); got != row.want {
			t.Errorf("%s: answered %d, want %d", name, got, row.want)
		}
	}
	s.pass("P11D")
	s.wantLedger("1: A×2@12.50")
}

func TestSwapRulesAreStored(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	v := s.articles()
	first := s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"forBillingCycle": 4, "changeNextOrderDateBy": 2})
	second := s.swap(products(v[1].VariantID, 1), products(v[2].VariantID, 1), nil)
	if first.Shop != "demo.myshopify.com" || first.RuleSequence != 1 || second.RuleSequence != 2 || first.DiscountCarryForward != "NONE" {
		t.Errorf("got %+v and %+v", first, second)
	}
	var list []struct {
		ID          int64
		DisplayName string `json:"displayName"`
		Quantity    int
	}
	if err := json.Unmarshal([]byte(first.SourceVariants), &list); err != nil || len(list) != 1 || list[0].ID != v[0].VariantID || list[0].DisplayName == "" {
		t.Errorf("source variants %q: %v", first.SourceVariants, err)
	}
	var changed swapRule
	if got := s.put("/product-swaps", map[string]any{"id": first.ID, "shop": first.Shop, "forBillingCycle": nil, "discountCarryForward": "existing_plan"}, &changed); got != http.StatusOK {
		t.Fatalf("changing answered %d", got)
	}
	if changed.ForBillingCycle != nil || changed.DiscountCarryForward != "EXISTING_PLAN" || changed.ChangeNextOrder == nil || changed.SourceVariants != first.SourceVariants {
		t.Errorf("changed to %+v", changed)
	}
	if got := s.put(fmt.Sprintf("/product-swaps/%d", second.ID), map[string]any{"ruleSequence": 0}, &changed); got != http.StatusOK || changed.RuleSequence != 0 {
		t.Errorf("changing by the path answered %d %+v", got, changed)
	}
	var all []swapRule
	s.get("/product-swaps", &all)
	if len(all) != 2 || all[0].ID != second.ID {
		t.Errorf("all rules: %+v", all)
	}
	for _, test := range []struct {
		body map[string]any
		want int
	}{
		{map[string]any{"name": "x"}, 400}, {map[string]any{"id": 4711, "shop": first.Shop}, 404}, {map[string]any{"id": first.ID, "shop": "other.myshopify.com"}, 400},
		{map[string]any{"id": first.ID, "shop": first.Shop, "changeNextOrderDateBy": 1.5}, 400}, {map[string]any{"id": first.ID, "shop": first.Shop, "discountCarryForward": "SOME"}, 400},
		{map[string]any{"id": first.ID, "shop": first.Shop, "destinationVariants": "[]"}, 400},
	} {
		if got := s.put("/product-swaps", test.body, nil); got != test.want {
			t.Errorf("%v answered %d, want %d", test.body, got, test.want)
		}
	}
	if got := s.delete(fmt.Sprintf("/product-swaps/%d", first.ID), nil); got != http.StatusNoContent {
		t.Errorf("removing answered %d", got)
	}
	if got := s.delete(fmt.Sprintf("/product-swaps/%d", first.ID), nil); got != http.StatusNotFound {
		t.Errorf("removing again answered %d", got)
	}
}

// What is foreseen of orders is what is charged for them: with prices that change with
// the orders, and whatever a rule brings.
func TestPreviewedOrdersCostWhatIsCharged(t *testing.T) {
	t.Parallel()
	byHand := func(s *subscription) {
		s.change("PUT", "/subscription-contracts-update-line-item-pricing-policy?"+s.line(), steps(0, 50, 2, 10))
	}
	for name, row := range map[string]struct {
		option map[string]any
		price  string
		do     func(*subscription)
		rule   map[string]any // that replaces the product; nil: none does
	}{
		"by a plan, without a rule":                         {twoPrices(2), "14.40", nil, nil},
		"by hand, without a rule":                           {nil, "16.00", byHand, nil},
		"by hand, and one order is swapped at the discount": {nil, "16.00", byHand, map[string]any{"forBillingCycle": 2, "discountCarryForward": "EXISTING_PLAN"}},
		"by hand, and all are":                              {nil, "16.00", byHand, map[string]any{"checkForEveryRecurringOrder": true, "discountCarryForward": "EXISTING_PLAN"}},
		"by a plan, and one order is swapped":               {twoPrices(3), "14.40", nil, map[string]any{"forBillingCycle": 2, "discountCarryForward": "PRODUCT_PLAN"}},
		"by a plan, and all are":                            {twoPrices(3), "14.40", nil, map[string]any{"checkForEveryRecurringOrder": true, "discountCarryForward": "PRODUCT_PLAN"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			s.cancel(http.StatusNoContent, "")
			line := map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": row.price}
			if row.option != nil {
				body := monthlyGroup("Club")
				maps.Copy(body["subscriptionPlans"].([]any)[0].(map[string]any), row.option)
				body["variantIds"] = "4001,4003"
				var made group
				if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
					t.Fatalf("making a group answered %d", got)
				}
				line["sellingPlanId"] = made.Plans[0].IDNew
			}
			s.id = s.checkout(map[string]any{"lines": []any{line}})
			if row.do != nil {
				row.do(s)
			}
			if row.rule != nil {
				s.swap(products(4001, 1), products(4003, 1), row.rule)
			}
			var orders []struct {
				Variants []struct{ Price float64 }
			}
			if got := s.post(fmt.Sprintf("/product-swaps-by-variant-groups/%d", s.id), nil, &orders); got != http.StatusOK {
				t.Fatalf("answered %d", got)
			}
			s.until("2027-03-01")
			charged := s.orders()
			var want, said []string
			for i, o := range charged {
				want = append(want, o.Amount)
				said = append(said, fmt.Sprintf("%.2f", orders[i].Variants[0].Price))
			}
			if len(charged) < 3 || !slices.Equal(said, want) {
				t.Errorf("the orders are foreseen to cost %v and come to %v", said, want)
			}
		})
	}
}

// What a rule brings without a discount stays at its own price: the steps of the plan on
// which the old product was are none of it.
func TestSwapWithoutDiscountKeepsPrice(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.cancel(http.StatusNoContent, "")
	plan := s.planned(s.urls.Subscriptions, twoPrices(3))
	s.id = s.checkout(later(map[string]any{"lines": []any{map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "14.40", "sellingPlanId": plan}}}))
	s.swap(products(4001, 1), products(4003, 1), map[string]any{"checkForEveryRecurringOrder": true, "discountCarryForward": "NONE"})
	s.until("2027-03-01")
	s.wantAmounts("39.00", "39.00", "39.00", "39.00")
}

func TestPreviewShowsSwaps(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	s.swap(products(v[0].VariantID, 1), products(v[1].VariantID, 1), map[string]any{"forBillingCycle": 2, "changeNextOrderDateBy": 3})
	var orders []struct {
		BillingCycle int
		OrderDate    time.Time
		Variants     []struct {
			ID       int64
			Quantity int
		}
		AppliedRules []struct{ ID int64 }
	}
	if got := s.post(fmt.Sprintf("/product-swaps-by-variant-groups/%d", s.id), nil, &orders); got != http.StatusOK || len(orders) != 10 {
		t.Fatalf("answered %d with %d orders", got, len(orders))
	}
	for i, want := range []int64{v[0].VariantID, v[1].VariantID, v[0].VariantID} {
		if orders[i].BillingCycle != i+1 || len(orders[i].Variants) != 1 || orders[i].Variants[0].ID != want || len(orders[i].AppliedRules) != i%2 {
			t.Errorf("order %d: %+v", i, orders[i])
		}
	}
	if !orders[2].OrderDate.Equal(time.Date(2027, 1, 14, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the order after the swap is on %s, want January 14", orders[2].OrderDate)
	}
	s.skipNumber(2)
	s.reschedule(0, "2026-11-15", false)
	if got := s.post(fmt.Sprintf("/product-swaps-by-variant-groups/%d", s.id), nil, &orders); got != http.StatusOK || len(orders) != 10 || orders[2].BillingCycle != 4 || orders[9].BillingCycle != 11 {
		t.Errorf("answered %d with %+v, want ten orders without the one that is skipped", got, orders)
	}
	if !orders[0].OrderDate.Equal(time.Date(2026, 11, 15, 14, 0, 0, 0, time.UTC)) {
		t.Errorf("the order that was moved is on %s, want November 15", orders[0].OrderDate)
	}
	if got := s.post("/product-swaps-by-variant-groups/4711", nil, nil); got != http.StatusNotFound {
		t.Errorf("an unknown contract answered %d", got)
	}
}
