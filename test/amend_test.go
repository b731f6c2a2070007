package test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// object is what a story looks at in a contract that an operation answers.
type object struct {
	ID              string
	Status          string
	Original        *int64 `json:"originalContractId"`
	Note            *string
	NextBillingDate *time.Time `json:"nextBillingDate"`
	DeliveryPrice   struct{ Amount string }
	BillingPolicy   struct {
		Interval             string
		IntervalCount        int
		MinCycles, MaxCycles *int
	}
	DeliveryPolicy struct {
		Interval      string
		IntervalCount int
	}
	Lines struct {
		Nodes []struct {
			ID           string
			VariantID    string
			Quantity     int
			CurrentPrice struct{ Amount string }
			Pricing      *linePolicy                 `json:"pricingPolicy"`
			Allocations  []struct{ Discount string } `json:"discountAllocations"`
		}
		Edges []struct{ Node struct{ ID string } }
	}
	Discounts struct {
		Nodes []struct{ ID, Title, Code string }
	}
	CustomAttributes []struct{ Key, Value string }
	DeliveryMethod   *struct {
		Kind    string
		Title   *string
		Address *struct{ City, Zip *string }
	}
	CustomerPaymentMethod *struct{ ID string }
}

// linePolicy is how the contract object says that a line's price changes.
type linePolicy struct {
	BasePrice      struct{ Amount string }
	CycleDiscounts []struct {
		AfterCycle    int
		ComputedPrice struct{ Amount string }
	}
}

// change calls an operation that answers a contract and expects success.
func (s *subscription) change(method, path string, body any) object {
	s.t.Helper()
	var o object
	if got := s.send(method, s.urls.Subscriptions+api+path, s.key, body, &o); got != http.StatusOK {
		s.t.Fatalf("%s %s answered %d", method, path, got)
	}
	return o
}

// refused calls an operation and expects a status.
func (s *subscription) refused(want int, method, path string, body any) {
	s.t.Helper()
	if got := s.send(method, s.urls.Subscriptions+api+path, s.key, body, nil); got != want {
		s.t.Errorf("%s %s answered %d, want %d", method, path, got, want)
	}
}

// variants returns what the store sells.
func (s *subscription) variants() (ids []int64) {
	s.t.Helper()
	var list []struct{ VariantID int64 }
	s.call("GET", "/platform/variants", nil, &list)
	for _, v := range list {
		ids = append(ids, v.VariantID)
	}
	return ids
}

const api2 = "MERCHANT_EXTERNAL_API "

func TestLineChangesReachNextOrder(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/contract-external/%d", s.id), nil)
	if len(o.Lines.Nodes) != 1 || len(o.Lines.Edges) != 1 || o.Lines.Nodes[0].CurrentPrice.Amount != "12.50" {
		t.Fatalf("the contract reads %+v", o)
	}
	line := url.QueryEscape(o.Lines.Nodes[0].ID)

	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s&variantId=%d&quantity=3&price=10.25", s.id, line, sold[0]), nil)
	if n := o.Lines.Nodes[0]; n.Quantity != 3 || n.CurrentPrice.Amount != "10.25" {
		t.Errorf("after the update the line is %+v", n)
	}
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=%d&quantity=1", s.id, sold[1]), nil)
	if len(o.Lines.Nodes) != 2 {
		t.Fatalf("after adding there are %d lines", len(o.Lines.Nodes))
	}
	added := url.QueryEscape(o.Lines.Nodes[1].ID)
	o = s.change("PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&oldLineId=%s&oldVariantId=undefined&newVariantId=%d", s.id, added, sold[2]), nil)
	if want := fmt.Sprintf("gid://shopify/ProductVariant/%d", sold[2]); o.Lines.Nodes[1].VariantID != want {
		t.Errorf("the variant is %s, want %s", o.Lines.Nodes[1].VariantID, want)
	}
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-quantity?contractId=%d&lineId=%s&quantity=2", s.id, line), nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-line-item-price?contractId=%d&lineId=%s&basePrice=11", s.id, line), nil)
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-remove-line-item?contractId=%d&lineId=%s", s.id, added), nil)
	if n := o.Lines.Nodes; len(n) != 1 || n[0].Quantity != 2 || n[0].CurrentPrice.Amount != "11.00" {
		t.Errorf("in the end the lines are %+v", n)
	}
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contracts-remove-line-item?contractId=%d&lineId=%s", s.id, line), nil)
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contracts-remove-line-item?contractId=%d&lineId=%s", s.id, added), nil)
	s.refused(http.StatusNotFound, "PUT", fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=999999&quantity=1", s.id), nil)
	s.refused(http.StatusNotFound, "PUT", "/subscription-contracts-add-line-item?contractId=77&variantId=4001&quantity=1", nil)
	s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contract-update-variant?contractId=%d&newVariantId=%d", s.id, sold[2]), nil)

	s.pass("P11D")
	if orders := s.orders(); len(orders) != 1 || orders[0].Amount != "22.00" {
		t.Errorf("orders %+v, want one over 22.00", orders)
	}
	s.wantEntries(created, api2+"PRODUCT_QUANTITY_CHANGE SUCCESS", api2+"PRODUCT_PRICE_CHANGE SUCCESS", api2+"PRODUCT_ADD SUCCESS", api2+"PRODUCT_REPLACE SUCCESS",
		api2+"PRODUCT_QUANTITY_CHANGE SUCCESS", api2+"PRODUCT_PRICE_CHANGE SUCCESS", api2+"PRODUCT_REMOVE SUCCESS", charged)
}

func TestReplaceSeveralLinesIsOneChange(t *testing.T) {
	t.Parallel()
	s := subscribeBesideOthers(t, nil)
	sold := s.variants()
	o := s.change("POST", "/subscription-contract-details/replace-variants-v3", map[string]any{
		"shop": s.row0(), "contractId": s.id, "oldVariants": []int64{sold[0]}, "newVariants": map[string]int{fmt.Sprint(sold[1]): 1, fmt.Sprint(sold[2]): 2}, "carryForwardDiscount": true,
	})
	if n := o.Lines.Nodes; len(n) != 2 || n[0].Quantity+n[1].Quantity != 3 || n[0].CurrentPrice.Amount != "12.50" {
		t.Errorf("after replacing the lines are %+v", n)
	}
	s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/replace-variants-v3", map[string]any{"shop": "other.myshopify.com", "contractId": s.id})
	s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/replace-variants-v3", map[string]any{
		"contractId": s.id, "oldVariants": []int64{sold[0]}, "newVariants": map[string]int{fmt.Sprint(sold[1]): 1},
	})
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-add-line-items?contractId=%d", s.id), []any{map[string]any{"variantId": sold[0], "quantity": 1, "currentPrice": 9.99}})
	if n := o.Lines.Nodes; len(n) != 3 || n[2].CurrentPrice.Amount != "9.99" {
		t.Errorf("after adding the lines are %+v", n)
	}
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-remove-line-items?contractId=%d", s.id), []string{o.Lines.Nodes[0].ID, o.Lines.Nodes[1].ID})
	if len(o.Lines.Nodes) != 1 {
		t.Errorf("after removing %d lines are left", len(o.Lines.Nodes))
	}
	s.wantEntries(created, api2+"PRODUCT_REPLACE SUCCESS", api2+"PRODUCT_REPLACE SUCCESS", api2+"PRODUCT_ADD SUCCESS", api2+"PRODUCT_REMOVE SUCCESS", api2+"PRODUCT_REMOVE SUCCESS")
}

func TestReplaceAddsAndRemovesLines(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	const path = "/subscription-contract-details/replace-variants-v3"
	o := s.change("POST", path, map[string]any{"contractId": s.id, "newVariants": map[string]int{fmt.Sprint(sold[1]): 2}})
	if n := o.Lines.Nodes; len(n) != 2 || n[1].Quantity != 2 {
		t.Errorf("after adding the lines are %+v", n)
	}
	o = s.change("POST", path, map[string]any{"contractId": s.id, "oldVariants": []int64{sold[1]}, "newVariants": map[string]int{}})
	if len(o.Lines.Nodes) != 1 {
		t.Errorf("after removing %d lines are left", len(o.Lines.Nodes))
	}
	s.refused(http.StatusBadRequest, "POST", path, map[string]any{"contractId": s.id, "oldVariants": []int64{sold[0]}})
	s.refused(http.StatusBadRequest, "POST", path, map[string]any{"contractId": s.id, "oldLineId": "x"})
	s.refused(http.StatusBadRequest, "POST", path, map[string]any{"contractId": s.id})
	s.wantEntries(created, api2+"PRODUCT_ADD SUCCESS", api2+"PRODUCT_REMOVE SUCCESS")
}

func TestAddedLineHasGivenPrice(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for i, path := range []string{"/subscription-contracts-add-line-item", "/subscription-contract-add-line-item"} {
		o := s.change("PUT", fmt.Sprintf("%s?contractId=%d&variantId=%d&quantity=1&price=3.33", path, s.id, s.variants()[1]), nil)
		if n := o.Lines.Nodes; len(n) != i+2 || n[i+1].CurrentPrice.Amount != "3.33" {
			t.Errorf("%s: the lines are %+v", path, n)
		}
	}
}

func TestReplaceIsRefusedWhenNextOrderCannotFollow(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	const path = "/subscription-contract-details/replace-variants-v3"
	one := func(variant int64) map[string]int { return map[string]int{fmt.Sprint(variant): 1} }
	swap := map[string]any{"contractId": s.id, "oldVariants": []int64{sold[0]}, "newVariants": one(sold[1])}
	s.refused(http.StatusNotFound, "POST", path, with(swap, "newOneTimeVariants", one(999999)))
	s.refused(http.StatusNotFound, "POST", path, map[string]any{"contractId": s.id, "newVariants": one(sold[1]), "newOneTimeVariants": one(999999)})
	s.status(http.StatusNoContent, "PAUSED")
	s.refused(http.StatusBadRequest, "POST", path, with(swap, "newOneTimeVariants", one(sold[2])))
	if o := s.change("POST", path, swap); len(o.Lines.Nodes) != 1 || o.Lines.Nodes[0].VariantID != fmt.Sprintf("gid://shopify/ProductVariant/%d", sold[1]) {
		t.Errorf("after replacing the lines are %+v", o.Lines.Nodes)
	}
	s.wantEntries(created, paused, api2+"PRODUCT_REPLACE SUCCESS")
}

// row0 returns the store's domain as the interface shows it.
func (s *subscription) row0() string {
	s.t.Helper()
	var list []struct{ Shop string }
	s.get("/subscription-contract-details?size=1", &list)
	return list[0].Shop
}

func TestNotesAndAttributesAreStoredAndCleared(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	note := fmt.Sprintf("/subscription-contracts-update-order-note/%d", s.id)
	var answer bool
	if got := s.put(note+"?orderNote="+url.QueryEscape("ring\ntwice"), nil, &answer); got != http.StatusOK || !answer {
		t.Fatalf("the note answered %d %t", got, answer)
	}
	s.refused(http.StatusBadRequest, "PUT", note, nil)
	s.refused(http.StatusNotFound, "PUT", "/subscription-contracts-update-order-note/77?orderNote=x", nil)
	attributes := "/subscription-contracts-update-custom-note-attributes"
	list := func(pairs ...string) map[string]any {
		var l []any
		for i := 0; i < len(pairs); i += 2 {
			l = append(l, map[string]string{"key": pairs[i], "value": pairs[i+1]})
		}
		return map[string]any{"subscriptionContractId": s.id, "customAttributesList": l}
	}
	if got := s.put(attributes, list("gift", "yes", "size", "L"), nil); got != http.StatusOK {
		t.Fatalf("attributes answered %d", got)
	}
	if got := s.put(attributes+"?overwriteExistingAttributes=false", list("size", "M", "colour", "red"), nil); got != http.StatusOK {
		t.Fatalf("merging attributes answered %d", got)
	}
	s.refused(http.StatusBadRequest, "PUT", attributes, list("a", "1", "a", "2"))
	s.refused(http.StatusBadRequest, "PUT", attributes, list("", "1"))
	s.refused(http.StatusBadRequest, "PUT", attributes, list(" ", "1"))
	s.refused(http.StatusBadRequest, "PUT", attributes, map[string]any{"subscriptionContractId": s.id})
	s.refused(http.StatusNotFound, "PUT", attributes, map[string]any{"subscriptionContractId": 77, "customAttributesList": []any{}})
	o := s.change("GET", fmt.Sprintf("/contract-raw-response?contractId=%d", s.id), nil)
	if o.Note == nil || *o.Note != "ring\ntwice" || fmt.Sprint(o.CustomAttributes) != "[{gift yes} {size M} {colour red}]" {
		t.Errorf("the contract has note %v and attributes %v", o.Note, o.CustomAttributes)
	}
	if got := s.put(note+"?orderNote=", nil, &answer); got != http.StatusOK {
		t.Fatalf("clearing the note answered %d", got)
	}
	if o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil); o.Note != nil {
		t.Errorf("the note is still %q", *o.Note)
	}
	s.wantEntries(created, api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS")
}

func TestStatusChangeUpdatesQueue(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	status := func(want int, to string) {
		t.Helper()
		s.refused(want, "PUT", fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=%s", s.id, to), nil)
	}
	status(http.StatusBadRequest, "ACTIVE")
	status(http.StatusNoContent, "paused")
	if n := len(s.upcoming()); n != 0 {
		t.Errorf("%d orders wait of a paused contract", n)
	}
	status(http.StatusBadRequest, "PAUSED")
	status(http.StatusBadRequest, "FAILED")
	s.pass("P12D")
	status(http.StatusNoContent, "ACTIVE")
	if n := len(s.upcoming()); n != 6 {
		t.Errorf("%d orders wait of a contract that runs again", n)
	}
	s.refused(http.StatusNoContent, "DELETE", fmt.Sprintf("/subscription-contracts/%d?cancellationFeedback=moving&cancellationNote=nice", s.id), nil)
	var rows []struct{ Status, CancellationFeedback, CancellationNote string }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	if len(rows) != 1 || rows[0].Status != "cancelled" || rows[0].CancellationFeedback != "moving" || rows[0].CancellationNote != "nice" {
		t.Errorf("after the cancellation: %+v", rows)
	}
	s.pass("P60D")
	if orders := s.orders(); len(orders) != 0 {
		t.Errorf("orders %+v of a contract that was paused on its date and then cancelled", orders)
	}
	s.wantEntries(created, api2+"CONTRACT_PAUSED SUCCESS", api2+"CONTRACT_ACTIVATED SUCCESS", requeued, api2+"CONTRACT_CANCELLED SUCCESS")
}

func TestIntervalsAndLimitsChange(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c := fmt.Sprintf("contractId=%d", s.id)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-billing-interval?interval=MONTH&intervalCount=1&"+c, nil)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-billing-interval?interval=FORTNIGHT&intervalCount=1&"+c, nil)
	o := s.change("PUT", "/subscription-contracts-update-billing-interval?interval=week&intervalCount=2&"+c, nil)
	if o.BillingPolicy.Interval != "WEEK" || o.BillingPolicy.IntervalCount != 2 || o.DeliveryPolicy.Interval != "WEEK" || o.DeliveryPolicy.IntervalCount != 2 {
		t.Errorf("intervals %+v %+v", o.BillingPolicy, o.DeliveryPolicy)
	}
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-max-cycles?maxCycles=-1&"+c, nil)
	s.change("PUT", "/subscription-contracts-update-max-cycles?maxCycles=4&"+c, nil)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-min-cycles?minCycles=5&"+c, nil)
	o = s.change("PUT", "/subscription-contracts-update-min-cycles?minCycles=2&"+c, nil)
	if *o.BillingPolicy.MinCycles != 2 || *o.BillingPolicy.MaxCycles != 4 {
		t.Errorf("limits %+v", o.BillingPolicy)
	}
	first := s.upcoming()[0].BillingDate
	o = s.change("PUT", fmt.Sprintf("/subscription-contracts-update-billing-date?nextBillingDate=%s&%s", first.AddDate(0, 0, 2).Format(time.DateOnly), c), nil)
	if want := first.AddDate(0, 0, 2); !o.NextBillingDate.Equal(want) {
		t.Errorf("the next billing date is %s, want %s", o.NextBillingDate, want)
	}
	if second := s.upcoming()[1].BillingDate; !second.Equal(first.AddDate(0, 0, 16)) {
		t.Errorf("the date after it is %s, want two weeks later", second)
	}
	s.wantEntries(created, api2+"BILLING_INTERVAL_CHANGE SUCCESS", api2+"DELIVERY_INTERVAL_CHANGE SUCCESS", api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS",
		api2+"SUBSCRIPTION_CONTRACT_UPDATED SUCCESS", api2+"NEXT_BILLING_DATE_CHANGE SUCCESS")
}

func TestDeliveryAndPaymentMethodChange(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c := fmt.Sprintf("contractId=%d", s.id)
	if o := s.change("PUT", "/subscription-contracts-update-delivery-price?deliveryPrice=4.9&"+c, nil); o.DeliveryPrice.Amount != "4.90" {
		t.Errorf("delivery price %+v", o.DeliveryPrice)
	}
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-delivery-price?deliveryPrice=4.999&"+c, nil)
	if o := s.change("PUT", "/subscription-contracts-update-delivery-method?deliveryMethodName=Express&"+c, nil); o.DeliveryMethod == nil || *o.DeliveryMethod.Title != "Express" {
		t.Errorf("delivery method %+v", o.DeliveryMethod)
	}
	o := s.change("PUT", "/subscription-contracts-update-shipping-address?"+c, map[string]any{
		"firstName": "Ana", "lastName": "Silva", "address1": "12 Rua Nova", "city": "Lisboa", "countryCode": "PT", "zip": "1100-001", "methodType": "shipping",
	})
	if m := o.DeliveryMethod; m == nil || m.Address == nil || *m.Address.City != "Lisboa" || *m.Address.Zip != "1100-001" {
		t.Errorf("delivery %+v", m)
	}
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-update-shipping-address?"+c, map[string]any{"city": "Lisboa"})
	s.refused(http.StatusNoContent, "PUT", "/subscription-contracts-update-payment-method?"+c, nil)
	s.refused(http.StatusNotFound, "PUT", "/subscription-contracts-update-existing-payment-method?paymentMethodId=nobody&"+c, nil)
	var said struct{ Message string }
	if got := s.put("/subscription-contracts-update-existing-payment-method?paymentMethodId="+url.QueryEscape(o.CustomerPaymentMethod.ID)+"&"+c, nil, &said); got != http.StatusOK || said.Message == "" {
		t.Errorf("the payment method answered %d %+v", got, said)
	}
	s.wantEntries(created, api2+"MANUAL_DELIVERY_PRICE_UPDATED SUCCESS", api2+"DELIVERY_METHOD_UPDATED SUCCESS", api2+"SHIPPING_ADDRESS_CHANGE SUCCESS", api2+"INFORMATIONAL_EVENT SUCCESS")
}

func TestDiscountsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	c := fmt.Sprintf("contractId=%d", s.id)
	o := s.change("PUT", "/subscription-contracts-add-discount?percentage=20&recurringCycleLimit=1&discountTitle=Loyal&"+c, nil)
	if len(o.Discounts.Nodes) != 1 || o.Discounts.Nodes[0].Title != "Loyal" {
		t.Fatalf("discounts %+v", o.Discounts)
	}
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-add-discount?percentage=20&amount=1&"+c, nil)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-add-discount?percentage=101&"+c, nil)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-contracts-apply-discount?discountCode=NOSUCHCODE&"+c, nil)
	s.pass("P45D")
	orders := s.orders()
	if len(orders) != 2 || orders[0].Amount != "20.00" || orders[1].Amount != "25.00" {
		t.Errorf("orders %+v, want 20 %% off the first one alone", orders)
	}
	o = s.change("PUT", "/subscription-contracts-apply-discount?discountCode=WELCOME10&"+c, nil)
	var id string
	for _, d := range o.Discounts.Nodes {
		if d.Code == "WELCOME10" {
			id = d.ID
		}
	}
	if id == "" {
		t.Fatalf("discounts %+v, want WELCOME10", o.Discounts)
	}
	o = s.change("PUT", "/subscription-contracts-remove-discount?discountId="+url.QueryEscape(id)+"&"+c, nil)
	for _, d := range o.Discounts.Nodes {
		if d.Code == "WELCOME10" {
			t.Errorf("the discount is still there: %+v", o.Discounts)
		}
	}
	s.refused(http.StatusNotFound, "PUT", "/subscription-contracts-remove-discount?discountId=77&"+c, nil)

	// A line names what is taken off it by an id of another type.
	o = s.change("PUT", "/subscription-contracts-apply-discount?discountCode=WELCOME10&"+c, nil)
	named := o.Lines.Nodes[0].Allocations[0].Discount
	o = s.change("PUT", "/subscription-contracts-remove-discount?discountId="+url.QueryEscape(named)+"&"+c, nil)
	if len(o.Lines.Nodes[0].Allocations) != 0 {
		t.Errorf("after %s was taken off: %+v", named, o.Lines)
	}
}

// follow goes on with another contract, by its graph id.
func (s *subscription) follow(contract string) {
	s.t.Helper()
	if _, err := fmt.Sscanf(contract, "gid://shopify/SubscriptionContract/%d", &s.id); err != nil {
		s.t.Fatal(err)
	}
}

func TestContractIsCreatedWithoutCheckoutAndSplit(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	var customer []struct{ CustomerID int64 }
	s.get("/subscription-contract-details?size=1", &customer)
	body := map[string]any{
		"customerId": customer[0].CustomerID, "nextBillingDate": s.now().AddDate(0, 0, 10).Format(time.RFC3339), "status": "ACTIVE",
		"billingIntervalType": "MONTH", "billingIntervalCount": 1, "deliveryIntervalType": "MONTH", "deliveryIntervalCount": 1,
		"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT", "deliveryPriceAmount": 3,
		"lines": []any{map[string]any{"variantId": sold[0], "quantity": 1, "currentPrice": 10}, map[string]any{"variantId": sold[1], "quantity": 2, "currentPrice": "7.50"}},
	}
	var o object
	if got := s.send("POST", s.urls.Subscriptions+api+"/subscription-contract-details/create-subscription-contract", s.key, body, &o); got != http.StatusCreated {
		t.Fatalf("creating answered %d", got)
	}
	if len(o.Lines.Nodes) != 2 || o.Status != "ACTIVE" {
		t.Fatalf("made %+v", o)
	}
	s.follow(o.ID)
	id := s.id
	split := s.change("POST", fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", id), []string{o.Lines.Nodes[1].ID})
	if len(split.Lines.Nodes) != 1 || split.Lines.Nodes[0].Quantity != 2 || split.Status != "ACTIVE" {
		t.Fatalf("split off %+v", split)
	}
	s.refused(http.StatusBadRequest, "POST", fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d", id), []string{o.Lines.Nodes[0].ID})
	s.refused(http.StatusNotFound, "POST", "/subscription-contract-details/create-subscription-contract", with(body, "customerId", 77))
	s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/create-subscription-contract", with(body, "nextBillingDate", "2020-01-01"))
	s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/create-subscription-contract", with(body, "lines", []any{}))
	s.refused(http.StatusBadRequest, "POST", "/subscription-contract-details/create-subscription-contract", with(body, "deliveryIntervalCount", 2))
	var rows []struct {
		OriginType         string
		OriginalContractID *int64
	}
	s.get("/subscription-contract-details?sort=id,asc", &rows)
	if len(rows) != 3 || rows[2].OriginType != "SPLIT_CONTRACT" || rows[2].OriginalContractID == nil || *rows[2].OriginalContractID != id {
		t.Errorf("rows %+v", rows)
	}
	s.pass("P11D")
	amounts := map[string]int{}
	for _, o := range s.orders() {
		amounts[o.Amount]++
	}
	if fmt.Sprint(amounts) != "map[13.00:1 18.00:1 25.00:1]" {
		t.Errorf("orders over %v, want each line charged once", amounts)
	}
}

// What waits for a contract would be for its parts too: it is decided on first. A part
// of a paused contract stands still as long as the rest.
func TestPendingChangesBlockSplit(t *testing.T) {
	t.Parallel()
	s := quarterly(t, map[string]any{"lines": []any{
		map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "16.00"}, map[string]any{"variantId": 4003, "quantity": 1, "currentPrice": "39.00"},
	}})
	line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[1].ID
	split := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", s.id)
	s.cancel(http.StatusNoContent, "")
	s.refused(http.StatusBadRequest, "POST", split, []string{line})
	s.status(http.StatusNoContent, "ACTIVE")
	s.status(http.StatusNoContent, "PAUSED", "pauseTillDate", "2027-01-10")
	s.call("POST", "/settings", map[string]any{"enableImmediatePlaceOrder": true}, nil)
	s.refused(http.StatusBadRequest, "POST", split+"&attemptBilling=true", []string{line})
	off := s.change("POST", split, []string{line})
	s.until("2027-01-10")
	s.wantPlatform("ACTIVE")
	s.follow(off.ID)
	s.wantPlatform("ACTIVE")
	s.until("2027-02-02")
	s.wantAmounts("39.00")
}

// An order that could not be charged has all lines, and so has what is charged in the
// end. While it waits for that, by the plan or on a day that a person gave it, nothing is
// split off.
func TestUnpaidOrderBlocksSplit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		waits func(s *subscription)
		days  string
	}{
		{"tried again by the plan", func(*subscription) {}, "[11-13 12-11]"},
		{"tried again on a day of its own", func(s *subscription) {
			s.status(http.StatusNoContent, "PAUSED")
			s.status(http.StatusNoContent, "ACTIVE")
			s.refused(http.StatusOK, "PUT", fmt.Sprintf("/subscription-billing-attempts/reschedule-order/%d?billingDate=2026-11-20", s.past()[0].ID), nil)
		}, "[11-20 12-11]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := subscribe(t, map[string]any{"lines": []any{
				map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "16.00"}, map[string]any{"variantId": 4003, "quantity": 1, "currentPrice": "39.00"},
			}})
			s.declines("INSUFFICIENT_FUNDS", 1)
			s.pass("P11D")
			line := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil).Lines.Nodes[1].ID
			split := fmt.Sprintf("/subscription-contract-details/split-existing-contract?contractId=%d&isSplitContract=true", s.id)
			row.waits(s)
			s.refused(http.StatusConflict, "POST", split, []string{line})
			s.until("2026-11-21")
			off := s.change("POST", split, []string{line})
			s.until("2026-12-12")
			s.wantAmounts("55.00", "16.00")
			s.wantOrderDays(row.days)
			s.follow(off.ID)
			s.wantAmounts("39.00")
		})
	}
}

// A split loses nothing: discounts that are for each line go
// with the lines, one that is off the order is given once, and both keep the note.
func TestSplitKeepsDiscountsAndNote(t *testing.T) {
	t.Parallel()
	s := subscribe(t, map[string]any{"lines": []any{
		map[string]any{"variantId": 4001, "quantity": 1, "currentPrice": "16.00"}, map[string]any{"variantId": 4003, "quantity": 1, "currentPrice": "39.00"},
	}})
	old := s.id
	c := fmt.Sprintf("contractId=%d", old)
	for _, off := range []string{"percentage=20&recurringCycleLimit=2&discountTitle=Loyal", "amount=5&discountTitle=Once", "amount=1&appliesOnEachItem=true&discountTitle=Each"} {
		s.change("PUT", "/subscription-contracts-add-discount?"+off+"&"+c, nil)
	}
	s.change("PUT", "/subscription-contracts-apply-discount?discountCode=WELCOME10&"+c, nil)
	s.put(fmt.Sprintf("/subscription-contracts-update-order-note/%d?orderNote=ring", old), nil, nil)
	s.pass("P11D")
	s.pass("P7D")
	is := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", old), nil)
	split := s.change("POST", "/subscription-contract-details/split-existing-contract?"+c, []string{is.Lines.Nodes[1].ID})
	var given []string
	for _, d := range split.Discounts.Nodes {
		given = append(given, d.Title+d.Code)
	}
	if fmt.Sprint(given) != "[Loyal Each WELCOME10]" || split.Note == nil || *split.Note != "ring" {
		t.Errorf("split off with the discounts %v and the note %v", given, split.Note)
	}
	if len(split.CustomAttributes) != 0 {
		t.Errorf("split off with the attributes %+v", split.CustomAttributes)
	}
	s.pass("P62D")
	// Twenty per cent were for two orders.
	s.wantAmounts("33.30", "6.12", "9.00")
	s.follow(split.ID)
	s.wantAmounts("27.18", "34.20")
	if _, orders := s.ledger(); len(orders) == 0 || orders[0].Note != "ring" {
		t.Errorf("orders %+v, want them with the note", orders)
	}
}

func with(body map[string]any, key string, value any) map[string]any {
	changed := make(map[string]any, len(body))
	for k, v := range body {
		changed[k] = v
	}
	changed[key] = value
	return changed
}

// A change is made once, also when the platform's answer is lost.
func TestLostAnswerToChangeIsFound(t *testing.T) {
	t.Parallel()
	s := subscribeChecked(t, nil)
	sold := s.variants()
	s.call("POST", "/platform/faults", map[string]any{"rate": 0.3, "kinds": []string{"timeout_after", "throttled", "http_500"}, "seed": 5, "for": "P1D"}, nil)
	for i := range 4 {
		path := fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=%d&quantity=%d", s.id, sold[i%3], i+1)
		for {
			var o object
			if got := s.put(path, nil, &o); got == http.StatusOK {
				break
			} else if got < 500 {
				t.Fatalf("adding answered %d", got)
			}
		}
	}
	s.call("DELETE", "/platform/faults", nil, nil)
	o := s.change("GET", fmt.Sprintf("/subscription-contracts/%d", s.id), nil)
	if len(o.Lines.Nodes) < 5 {
		t.Errorf("%d lines, want all that were added", len(o.Lines.Nodes))
	}
	quantities := map[int]int{}
	for _, n := range o.Lines.Nodes {
		quantities[n.Quantity]++
	}
	t.Logf("quantities %v", quantities)
}

func TestReplaceAttributesOfSeveralLinesIsOneChange(t *testing.T) {
	t.Parallel()
	sold := []any{}
	for _, variant := range []int64{4001, 4002, 4003} {
		sold = append(sold, map[string]any{"variantId": variant, "quantity": 1, "currentPrice": "10.00"})
	}
	s := subscribe(t, map[string]any{"lines": sold})
	type shown struct {
		Lines struct {
			Nodes []struct {
				ID               string
				CustomAttributes []struct{ Key, Value string }
			}
		}
	}
	var o shown
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &o)
	path := fmt.Sprintf("/subscription-contracts-update-multiple-line-item-attributes?contractId=%d", s.id)
	attributes := func(keys ...string) (list []any) {
		for _, key := range keys {
			list = append(list, map[string]string{"key": key, "value": "yes"})
		}
		return list
	}
	a, b, c := o.Lines.Nodes[0].ID, o.Lines.Nodes[1].ID, o.Lines.Nodes[2].ID
	if got := s.put(path, map[string]any{a: attributes("gift", "card"), c: attributes("gift")}, nil); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	if got := s.put(path, map[string]any{b: attributes("wrap"), c: []any{}}, &o); got != http.StatusOK {
		t.Fatalf("answered %d", got)
	}
	var is []string
	for _, l := range o.Lines.Nodes {
		is = append(is, fmt.Sprint(l.CustomAttributes))
	}
	if got, want := fmt.Sprint(is), "[[{gift yes} {card yes}] [{wrap yes}] []]"; got != want {
		t.Errorf("the lines have %s, want %s", got, want)
	}
	for what, body := range map[string]any{
		"no line": map[string]any{}, "an unknown line": map[string]any{a: attributes("new"), a + "0": attributes("new")}, "a key twice": map[string]any{a: attributes("new", "new")}, "a list": []any{},
	} {
		if got := s.put(path, body, nil); got != http.StatusBadRequest {
			t.Errorf("%s answered %d, want 400", what, got)
		}
	}
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &o)
	if got := fmt.Sprint(o.Lines.Nodes[0].CustomAttributes); got != "[{gift yes} {card yes}]" {
		t.Errorf("after what was refused the first line has %s", got)
	}
	changed := api2 + "SUBSCRIPTION_CONTRACT_UPDATED SUCCESS"
	s.wantEntries(created, changed, changed, changed, changed)
}
