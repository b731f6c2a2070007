package test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/clock"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/sandbox"
)

// wholeContract is every field of the object that the changes of a contract
// answer, as far as a story can say what is in it.
type wholeContract struct {
	GetTypename       string `json:"get__typename"`
	Typename          string `json:"__typename"`
	ID, Status        string
	LastPaymentStatus string
	BillingPolicy     struct {
		Interval             string
		IntervalCount        int
		Anchors              []anchorDay
		MinCycles, MaxCycles int
	}
	DeliveryPolicy struct{ Anchors []anchorDay }
	Lines          struct {
		Nodes []wholeLine
		Edges []struct{ Node wholeLine }
	}
	CustomerPaymentMethod struct {
		ID         string
		Instrument struct {
			Typename string `json:"__typename"`
			Name     string
		}
	}
	Customer    struct{ DisplayName, Phone string }
	OriginOrder struct {
		ID, Name          string
		FulfillmentOrders struct{ Nodes []struct{ ID string } }
	}
	Discounts struct {
		Nodes []struct {
			ID         string
			Percentage int
		}
	}
	CustomAttributes []struct{ Key, Value string }
	BillingAttempts  struct {
		Nodes []struct {
			ID, IdempotencyKey     string
			Ready                  bool
			CreatedAt, CompletedAt time.Time
		}
	}
}

type anchorDay struct {
	Type       string
	Day, Month int
}

type sum struct{ Amount, CurrencyCode string }

type wholeLine struct {
	ID, VariantID                     string
	Quantity                          int
	CustomAttributes                  []struct{ Key, Value string }
	CurrentPrice, LineDiscountedPrice sum
	VariantImage                      *struct{ TransformedSrc string }
	DiscountAllocations               []struct {
		Amount   sum
		Discount string
	}
}

// A contract on a day of the year, charged once, with attributes, a discount and
// a product that has a picture.
type illustrated struct {
	*subscription
	line              string
	variant, pictured int64
	order             struct {
		OrderID   int64
		OrderName string
	}
}

const picture = "https://cdn.shopify.com/mug.jpg"

// illustrate makes it. The picture is put into the platform's books while
// no test has them open.
func illustrate(t *testing.T) *illustrated {
	t.Helper()
	dir := t.TempDir()
	start := func() *sandbox.Sandbox {
		s, err := sandbox.Start(t.Context(), sandbox.Options{Empty: true, DataDir: dir, Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Out: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := start().Close(); err != nil {
		t.Fatal(err)
	}
	books, err := simulator.New(simulator.Options{File: filepath.Join(dir, "platform.db"), Clock: clock.NewManual(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))})
	if err != nil {
		t.Fatal(err)
	}
	mug, err := books.AddProduct(simulator.ProductSpec{Title: "Mug", Image: picture, Variants: []simulator.VariantSpec{{Price: "15.00"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := books.Close(); err != nil {
		t.Fatal(err)
	}
	running := start()
	t.Cleanup(func() {
		if err := running.Close(); err != nil {
			t.Errorf("close the sandbox: %v", err)
		}
	})

	text, err := os.ReadFile(filepath.Join(dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ APIKey string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	s := &illustrated{subscription: &subscription{store: &store{t: t, urls: running.URLs(), dir: dir}, key: manifest.APIKey}, pictured: mug[0].ID}
	s.variant = s.variants()[0]
	var made struct {
		ID        int64
		OrderID   int64
		OrderName string
		Lines     []string
	}
	s.call("POST", "/platform/contracts", map[string]any{
		"customer":        map[string]any{"email": "ana@shopper.example", "firstName": "Ana", "lastName": "Silva", "phone": "+15550100"},
		"nextBillingDate": "2026-11-20", "deliveryPrice": "4.90", "customAttributes": []any{map[string]string{"key": "gift", "value": "yes"}},
		"billingPolicy": map[string]any{"interval": "YEAR", "intervalCount": 1, "minCycles": 1, "maxCycles": 9, "anchors": []any{map[string]any{"type": "YEARDAY", "day": 20, "month": 11}}},
		"lines":         []any{map[string]any{"variantId": s.variant, "quantity": 2, "currentPrice": "12.50"}},
	}, &made)
	s.id, s.line, s.order.OrderID, s.order.OrderName = made.ID, made.Lines[0], made.OrderID, made.OrderName
	s.pass("P20D")
	line := fmt.Sprintf("contractId=%d&lineId=%s", s.id, url.QueryEscape(s.line))
	s.change("PUT", "/subscription-contracts-update-line-item-attributes?"+line, []any{map[string]string{"key": "size", "value": "L"}})
	s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=10&contractId=%d", s.id), nil)
	return s
}

func TestVariantChangeAnswersWholeContract(t *testing.T) {
	t.Parallel()
	s := illustrate(t)
	var c wholeContract
	path := fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d", s.id, s.variant, s.pictured)
	if got := s.put(path, nil, &c); got != 200 {
		t.Fatalf("answered %d", got)
	}
	s.wantWhole(c, "15.00")
}

func TestLineChangeAnswersWholeContract(t *testing.T) {
	t.Parallel()
	s := illustrate(t)
	var c wholeContract
	path := fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s&variantId=%d&quantity=2&price=13.40", s.id, url.QueryEscape(s.line), s.pictured)
	if got := s.put(path, nil, &c); got != 200 {
		t.Fatalf("answered %d", got)
	}
	s.wantWhole(c, "13.40")
}

// wantWhole asserts everything about the contract, whose line now costs a price.
func (s *illustrated) wantWhole(c wholeContract, price string) {
	t := s.t
	t.Helper()
	want := func(what string, got, want any) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	want("type", c.GetTypename+" "+c.Typename, "SubscriptionContract SubscriptionContract")
	want("number and state", c.ID+" "+c.Status, fmt.Sprintf("gid://shopify/SubscriptionContract/%d ACTIVE", s.id))
	day := []anchorDay{{"YEARDAY", 20, 11}}
	want("days of payment", c.BillingPolicy.Anchors, day)
	want("days of delivery", c.DeliveryPolicy.Anchors, day)
	want("rhythm", fmt.Sprint(c.BillingPolicy.Interval, c.BillingPolicy.IntervalCount, c.BillingPolicy.MinCycles, c.BillingPolicy.MaxCycles), "YEAR1 1 9")
	want("attributes", c.CustomAttributes, "[{gift yes}]")
	want("customer", c.Customer.DisplayName+" "+c.Customer.Phone, "Ana Silva +15550100")
	want("first order", c.OriginOrder.Name+" "+c.OriginOrder.ID, fmt.Sprintf("%s gid://shopify/Order/%d", s.order.OrderName, s.order.OrderID))
	want("fulfilment orders", c.OriginOrder.FulfillmentOrders.Nodes, fmt.Sprintf("[{gid://shopify/FulfillmentOrder/%d}]", s.order.OrderID))
	want("card", c.CustomerPaymentMethod.Instrument.Typename+" of "+c.CustomerPaymentMethod.Instrument.Name, "CustomerCreditCard of Ana Silva")

	if len(c.Lines.Nodes) != 1 || len(c.Lines.Edges) != 1 || c.Lines.Edges[0].Node.ID != s.line || len(c.Discounts.Nodes) != 1 {
		t.Fatalf("lines %+v and discounts %+v, want one of each", c.Lines, c.Discounts)
	}
	line := c.Lines.Nodes[0]
	want("line", fmt.Sprint(line.ID, " ", line.VariantID, " ", line.Quantity), fmt.Sprintf("%s gid://shopify/ProductVariant/%d 2", s.line, s.pictured))
	want("price of the line", line.CurrentPrice, sum{price, "USD"})
	want("attributes of the line", line.CustomAttributes, "[{size L}]")
	if line.VariantImage == nil || line.VariantImage.TransformedSrc != picture {
		t.Errorf("picture %+v, want %s", line.VariantImage, picture)
	}
	if len(line.DiscountAllocations) != 1 || line.DiscountAllocations[0].Discount != c.Discounts.Nodes[0].ID || c.Discounts.Nodes[0].Percentage != 10 {
		t.Fatalf("shares %+v of the discounts %+v, want one of ten percent", line.DiscountAllocations, c.Discounts.Nodes)
	}
	whole := new(big.Rat).Mul(rational(price), big.NewRat(2, 1))
	share := new(big.Rat).Mul(whole, big.NewRat(1, 10))
	want("share of the discount", line.DiscountAllocations[0].Amount.Amount, share.FloatString(2))
	want("price after the discount", line.LineDiscountedPrice.Amount, new(big.Rat).Sub(whole, share).FloatString(2))

	charge := s.contract(s.id).Attempts
	if len(charge) != 1 || len(c.BillingAttempts.Nodes) != 1 {
		t.Fatalf("charges %+v, at the platform %+v: want one", c.BillingAttempts.Nodes, charge)
	}
	shown := c.BillingAttempts.Nodes[0]
	charged := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	if shown.ID == "" || shown.IdempotencyKey != charge[0].Key || !shown.Ready || shown.CreatedAt.Before(charged) || !shown.CompletedAt.After(shown.CreatedAt) {
		t.Errorf("charge %+v, want %s on %s and its end", shown, charge[0].Key, charged)
	}
	want("last payment", c.LastPaymentStatus, "SUCCEEDED")

	var rows []struct{ Phone string }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	want("telephone in the search", rows, "[{+15550100}]")
}

// What only some contracts have is shown where they have it: a day that closes the
// anchor, words for the driver, a card that was revoked.
func TestOptionalContractFieldsAreShown(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"billingPolicy": map[string]any{
		"interval": "MONTH", "intervalCount": 1, "anchors": []any{map[string]any{"type": "MONTHDAY", "day": 15, "cutoffDay": 5}},
	}})
	text, err := os.ReadFile(filepath.Join(s.dir, "sandbox.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ PlatformToken string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	ask := func(query string, variables map[string]any, out any) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
		if err != nil {
			t.Fatal(err)
		}
		answer := s.graphQL(manifest.PlatformToken, body)
		if err := json.Unmarshal(answer.Data, out); err != nil || len(answer.Errors) > 0 {
			t.Fatalf("the platform answered %s %s", answer.Data, answer.Errors)
		}
	}
	var opened struct {
		SubscriptionContractUpdate struct{ Draft struct{ ID string } }
	}
	ask(`mutation($id: ID!) { subscriptionContractUpdate(contractId: $id) { draft { id } } }`, map[string]any{"id": fmt.Sprintf("gid://shopify/SubscriptionContract/%d", s.id)}, &opened)
	var done any
	draft := opened.SubscriptionContractUpdate.Draft.ID
	ask(`mutation($id: ID!, $in: SubscriptionDraftInput!) { subscriptionDraftUpdate(draftId: $id, input: $in) { userErrors { message } } }`, map[string]any{
		"id": draft, "in": map[string]any{"deliveryMethod": map[string]any{"localDelivery": map[string]any{
			"address":             map[string]any{"address1": "12 Mill Lane", "city": "Reno", "countryCode": "US", "provinceCode": "NV", "phone": "+15550100"},
			"localDeliveryOption": map[string]any{"phone": "+15550100", "instructions": "Leave at the back door"},
		}}},
	}, &done)
	ask(`mutation($id: ID!) { subscriptionDraftCommit(draftId: $id) { userErrors { message } } }`, map[string]any{"id": draft}, &done)
	revoked := s.now()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	s.call("POST", "/platform/payment-methods/"+url.PathEscape(o.CustomerPaymentMethod.ID), map[string]any{"status": "revoked"}, nil)

	type shown struct {
		BillingPolicy, DeliveryPolicy struct {
			Anchors []struct{ Day, CutoffDay int }
		}
		CustomerPaymentMethod struct{ RevokedAt *time.Time }
		DeliveryMethod        struct {
			Kind                  string
			AdditionalInformation struct{ Instructions, Phone string }
		}
	}
	v := s.variants()
	line := url.QueryEscape(o.Lines.Nodes[0].ID)
	for _, path := range []string{
		fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d", s.id, v[0], v[1]),
		fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s&variantId=%d&quantity=3&price=11", s.id, line, v[1]),
	} {
		var c shown
		if got := s.put(path, nil, &c); got != http.StatusOK {
			t.Fatalf("%s answered %d", path, got)
		}
		if a := c.BillingPolicy.Anchors; len(a) != 1 || a[0].Day != 15 || a[0].CutoffDay != 5 {
			t.Errorf("days of payment %+v, want the 15th, closed on the 5th", a)
		}
		if c.CustomerPaymentMethod.RevokedAt == nil || c.CustomerPaymentMethod.RevokedAt.Before(revoked.Truncate(time.Second)) {
			t.Errorf("the card was revoked at %v, want since %s", c.CustomerPaymentMethod.RevokedAt, revoked)
		}
		if m := c.DeliveryMethod; m.Kind != "LOCAL" || m.AdditionalInformation.Instructions != "Leave at the back door" || m.AdditionalInformation.Phone != "+15550100" {
			t.Errorf("delivery %+v", m)
		}
	}
}

func rational(amount string) *big.Rat {
	r, _ := new(big.Rat).SetString(amount)
	return r
}

// How often a contract is delivered changes without what it charges, or not at all.
func TestDeliveryIntervalNeverChangesCharges(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	path := "/subscription-contracts-update-delivery-interval?contractId=%d&interval=%s&intervalCount=%d"
	for _, r := range []struct {
		interval string
		count    int
	}{{"WEEK", 2}, {"MONTH", 2}, {"MONTH", 1}} {
		s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf(path, s.id, r.interval, r.count), nil)
	}
	if o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil); o.BillingPolicy.Interval != "MONTH" || o.BillingPolicy.IntervalCount != 1 || o.DeliveryPolicy.IntervalCount != 1 {
		t.Errorf("after what was refused the contract is %+v", o)
	}
	s.id = s.checkout(map[string]any{
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 4}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
	})
	o := s.change("PUT", fmt.Sprintf(path, s.id, "month", 2), nil)
	if o.BillingPolicy.IntervalCount != 4 || o.DeliveryPolicy.IntervalCount != 2 {
		t.Errorf("the prepaid contract is charged every %d and delivered every %d months, want 4 and 2", o.BillingPolicy.IntervalCount, o.DeliveryPolicy.IntervalCount)
	}
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf(path, s.id, "MONTH", 3), nil)
	s.wantEntries(created, created, api2+"DELIVERY_INTERVAL_CHANGE SUCCESS")
}

// A contract created without a payment method charges nothing, whatever cards the
// customer has, until it is given one of them.
func TestContractWithoutPaymentMethodChargesNothing(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	method := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).CustomerPaymentMethod.ID
	var row []struct{ CustomerID int64 }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &row)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?contractId=%d&nextBillingDate=2027-03-01", s.id), nil)

	body := map[string]any{
		"customerId": row[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 5), "billingIntervalType": "MONTH", "billingIntervalCount": 1,
		"createWithoutPaymentMethod": true, "paymentMethodId": method, "lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": 9}},
		"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
	}
	if got := s.post("/subscription-contract-details/create-subscription-contract", body, nil); got != http.StatusBadRequest {
		t.Errorf("with and without a payment method at once answered %d", got)
	}
	delete(body, "paymentMethodId")
	var made struct {
		ID                    string
		CustomerPaymentMethod *struct{ ID string }
	}
	if got := s.post("/subscription-contract-details/create-subscription-contract", body, &made); got != http.StatusCreated || made.CustomerPaymentMethod != nil {
		t.Fatalf("answered %d with the payment method %+v, want none", got, made.CustomerPaymentMethod)
	}
	s.follow(made.ID)
	first := s.upcoming()[0].ID
	charge := fmt.Sprintf("/subscription-billing-attempts/attempt-billing/%d", first)
	s.refused(http.StatusBadRequest, "PUT", charge, nil)
	s.pass("P6D")
	past := s.past()
	if orders := s.orders(); len(orders) != 0 || len(past) != 1 || past[0].Status != "FAILURE" || past[0].ResponseMessage == nil || !strings.HasPrefix(*past[0].ResponseMessage, `{"error_code":"PAYMENT_METHOD_NOT_SPECIFIED"`) {
		t.Fatalf("orders %+v and attempts %+v, want no order and one that failed for want of a payment method", orders, past)
	}
	if got := s.put(fmt.Sprintf("/subscription-contracts-update-existing-payment-method?contractId=%d&paymentMethodId=%s", s.id, url.QueryEscape(method)), nil, nil); got != http.StatusOK {
		t.Fatalf("giving it a payment method answered %d", got)
	}
	s.pass("PT1H") // it is charged again at once
	if orders := s.orders(); len(orders) != 1 || orders[0].Contract != s.id || orders[0].Amount != "9.00" {
		t.Errorf("orders %+v, want one over 9.00", orders)
	}
}

// stepped makes a group and returns its selling plan, on which people may step up and down or may not.
func (s *subscription) stepped(may bool) string {
	s.t.Helper()
	var made group
	body := monthlyGroup("Coffee")
	body["subscriptionPlans"].([]any)[0].(map[string]any)["allowedForUpgradeDowngrade"] = may
	if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
		s.t.Fatalf("making a group answered %d", got)
	}
	return made.Plans[0].IDNew
}

// dear returns a contract over 99.00 each on a plan that people may step down on.
func dear(t *testing.T) *subscription {
	t.Helper()
	s := subscribe(t, nil)
	line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[0].ID
	of := fmt.Sprintf("contractId=%d&lineId=%s", s.id, url.QueryEscape(line))
	s.change("PUT", "/subscription-contracts-update-line-item-selling-plan?sellingPlanId="+s.stepped(true)+"&"+of, nil)
	s.change("PUT", "/subscription-contracts-update-line-item-price?basePrice=99&"+of, nil)
	return s
}

// stepDown lets a cheaper product wait for the next order.
func (s *subscription) stepDown() {
	s.t.Helper()
	sold := s.variants()
	s.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d&prorateDowngrade=false", s.id, sold[0], sold[1]), nil)
}

// What waits for the next order is made before it, whenever that comes.
func TestPendingChangeIsMadeBeforeMovedOrder(t *testing.T) {
	t.Parallel()
	for name, day := range map[string]string{"sooner": "2026-11-05", "later": "2026-11-15"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dear(t)
			s.stepDown()
			s.reschedule(0, day, false)
			s.until(day)
			s.wantAmounts("28.80")
		})
	}
}

func TestPendingChangeIsMadeBeforeTriggeredOrder(t *testing.T) {
	t.Parallel()
	s := dear(t)
	s.stepDown()
	s.until("2026-11-05")
	if got := s.trigger(s.upcoming()[0].ID); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	s.pass("PT1H")
	s.wantAmounts("28.80")
}

// A cheaper product on a plan that people may step down on is there at once or, if it
// can wait, with the next order. Neither charges anybody.
func TestDowngradeWaitsOnRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		query string
		waits bool
	}{
		"nothing is said":                {"", false},
		"it can wait":                    {"&prorateDowngrade=false", true},
		"it is wanted at once":           {"&prorateDowngrade=true", false},
		"at once and without any charge": {"&prorateDowngrade=true&skipBilling=false", false},
		"charging is not kept from":      {"&prorateDowngrade=true&skipBilling=true", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dear(t)
			sold := s.variants()
			is := fmt.Sprintf("gid://shopify/ProductVariant/%d", sold[0])
			if !test.waits {
				is = fmt.Sprintf("gid://shopify/ProductVariant/%d", sold[1])
			}
			o := s.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d%s", s.id, sold[0], sold[1], test.query), nil)
			if got := o.Lines.Nodes[0].VariantID; got != is {
				t.Errorf("the line has %s, want %s", got, is)
			}
			var change struct {
				Shop, OldLineID, OldVariantID, NewVariantID, SellingPlanID string
				ContractID, CustomerID                                     int64
				OldPrice, NewPrice                                         float64
				EffectiveDate, WaitTillTimestamp                           time.Time
			}
			pending, want := s.send("GET", fmt.Sprintf("%s%s/subscription-contract-details/%d/pending-downgrade", s.urls.Subscriptions, api, s.id), s.key, nil, &change), 404
			if test.waits {
				want = 200
				if change.Shop == "" || change.ContractID != s.id || change.CustomerID != s.payer(s.id) || change.OldLineID != o.Lines.Nodes[0].ID || change.OldVariantID != is ||
					change.OldPrice != 89.10 || change.NewPrice != 14.40 || change.SellingPlanID == "" || change.WaitTillTimestamp.IsZero() || !change.WaitTillTimestamp.Equal(change.EffectiveDate) {
					t.Errorf("the change that waits is %+v", change)
				}
			}
			if pending != want {
				t.Errorf("reading what waits answered %d, want %d", pending, want)
			}
			if orders := s.orders(); len(orders) != 0 {
				t.Errorf("the change was charged: %+v", orders)
			}
		})
	}
}

// What another product costs more or less in the rest of the term that is paid for comes with the orders
// after it, on a plan that people may step up and down on, unless it is left out.
func TestPlanChangeSettlesPaidTerm(t *testing.T) {
	t.Parallel()
	change := func(s *subscription, from, to article, query string) string {
		return fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldVariantId=%d&newVariantId=%d%s", s.id, from.VariantID, to.VariantID, query)
	}
	for name, test := range map[string]struct {
		up, fixed, free bool
		query           string
		want            string
	}{
		"a dearer product":                               {up: true, want: "28.80 97.44 70.20"}, // two of 20.70 more, for 19 days and 18 hours of 30 days
		"a dearer product, to be charged":                {up: true, query: "&skipBilling=true", want: "28.80 97.44 70.20"},
		"a dearer product without a charge":              {up: true, query: "&skipBilling=false", want: "28.80 70.20 70.20"},
		"a cheaper product":                              {want: "70.20 1.54 28.80"},
		"a cheaper product without a credit":             {query: "&skipBilling=false", want: "70.20 28.80 28.80"},
		"a cheaper product that waits":                   {query: "&prorateDowngrade=false", want: "70.20 28.80 28.80"},
		"a cheaper product on a plan that is not for it": {fixed: true, want: "70.20 28.80 28.80"},
		"a cheaper product after an order for nothing":   {free: true, want: "0.00 28.80 28.80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, nil)
			sold := s.articles()
			from, to := sold[0], sold[2]
			line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[0].ID
			s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-selling-plan?sellingPlanId=%s&contractId=%d&lineId=%s", s.stepped(!test.fixed), s.id, url.QueryEscape(line)), nil)
			if !test.up {
				from, to = to, from
				s.change("PUT", change(s, to, from, "&skipBilling=false"), nil)
			}
			if test.free {
				s.change("PUT", fmt.Sprintf("/subscription-contracts-add-discount?percentage=100&recurringCycleLimit=1&contractId=%d", s.id), nil)
			}
			first := s.upcoming()[0].BillingDate
			s.until(first.AddDate(0, 0, 10).Format(time.DateOnly))
			s.change("PUT", change(s, from, to, test.query), nil)
			if test.up && test.query == "" { // the difference that waits would be lost
				want(t, s.demand("PUT", strings.TrimPrefix(change(s, to, from, ""), api), s.key, nil), http.StatusBadRequest, "differenceNotSettled")
			}
			var next []struct {
				OrderAmount float64 `json:"orderAmount"`
			}
			s.get(fmt.Sprintf("/subscription-billing-attempts/top-orders?contractId=%d", s.id), &next)
			if said := fmt.Sprintf("%.2f %.2f", next[0].OrderAmount, next[1].OrderAmount); !strings.HasSuffix(test.want, said) && !strings.Contains(test.query, "prorate") {
				t.Errorf("the next orders are said to cost %s, want those of %s", said, test.want)
			}
			s.until(first.AddDate(0, 2, 1).Format(time.DateOnly))
			s.wantAmounts(strings.Fields(test.want)...)
		})
	}
}
