package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"testing"
	"time"
)

// lastOrder is the JSON text of lastSuccessfulOrder.
type lastOrder struct {
	OrderID                int64
	OrderName              string
	BillingDate, OrderDate time.Time
	OrderAmount            float64
}

func TestLastOrderShowsTimeAndAmount(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	s.change("PUT", fmt.Sprintf("/subscription-contracts-update-delivery-price?contractId=%d&deliveryPrice=4.90", s.id), nil)
	s.pass("P11D")
	order := s.orders()[0]
	var rows []struct{ LastSuccessfulOrder string }
	s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
	var last lastOrder
	if err := json.Unmarshal([]byte(rows[0].LastSuccessfulOrder), &last); err != nil {
		t.Fatal(err)
	}
	if last.OrderAmount != 29.90 || fmt.Sprintf("%.2f", last.OrderAmount) != order.Amount || last.OrderDate.IsZero() || !last.OrderDate.Equal(last.BillingDate) {
		t.Errorf("the last order is %s, want one over %s", rows[0].LastSuccessfulOrder, order.Amount)
	}
}

// integratedLine is what integrations look at in a line of a contract.
type integratedLine struct {
	ID, VariantID, SellingPlanName string
	Quantity                       int
	CurrentPrice                   struct{ Amount string }
}

// integrated is what integrations look at in a contract.
type integrated struct {
	Lines          struct{ Nodes []integratedLine }
	DeliveryMethod struct{ Title, ServiceCode string }
	DeliveryPolicy struct{ IntervalCount int }
	Discounts      struct {
		Nodes []struct {
			Value json.RawMessage
		}
	}
}

// integrate calls an operation that answers a contract and expects success.
func (s *subscription) integrate(path string, args ...any) integrated {
	s.t.Helper()
	var o integrated
	if got := s.put(fmt.Sprintf(path, args...), nil, &o); got != http.StatusOK {
		s.t.Fatalf("%s answered %d", path, got)
	}
	return o
}

// What is left out of a change of a line stays as it is.
func TestLineChangesOneFieldAtATime(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	var now integrated
	s.get(fmt.Sprintf("/subscription-contracts/%d", s.id), &now)
	path := fmt.Sprintf("/subscription-contracts-update-line-item?contractId=%d&lineId=%s", s.id, url.QueryEscape(now.Lines.Nodes[0].ID))
	want := now.Lines.Nodes[0]
	for _, step := range []struct {
		query  string
		change func(*integratedLine)
	}{
		{"&quantity=5", func(l *integratedLine) { l.Quantity = 5 }},
		{"&price=9.25", func(l *integratedLine) { l.CurrentPrice.Amount = "9.25" }},
		{"&sellingPlanName=Every+full+moon", func(l *integratedLine) { l.SellingPlanName = "Every full moon" }},
		{fmt.Sprintf("&variantId=%d&price=8", sold[1]), func(l *integratedLine) {
			l.VariantID, l.CurrentPrice.Amount = fmt.Sprintf("gid://shopify/ProductVariant/%d", sold[1]), "8.00"
		}},
	} {
		step.change(&want)
		if got := s.integrate("%s", path+step.query).Lines.Nodes; len(got) != 1 || got[0] != want {
			t.Errorf("after %s the lines are %+v, want %+v", step.query, got, want)
		}
	}
	s.refused(http.StatusBadRequest, "PUT", path, nil)
	s.refused(http.StatusBadRequest, "PUT", path+"&quantity=6&basePrice=1", nil)
	s.wantEntries(created, api2+"PRODUCT_QUANTITY_CHANGE SUCCESS", api2+"PRODUCT_PRICE_CHANGE SUCCESS", api2+"PRODUCT_SELLING_PLAN_CHANGE SUCCESS",
		api2+"PRODUCT_REPLACE SUCCESS", api2+"PRODUCT_PRICE_CHANGE SUCCESS")
}

// A price counts under every name that integrations have for it, and is refused where
// it cannot count.
func TestNamedPriceIsNeverIgnored(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	add := fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=%d&quantity=1", s.id, sold[1])
	if o := s.integrate("%s&basePrice=3.75", add); o.Lines.Nodes[1].CurrentPrice.Amount != "3.75" {
		t.Errorf("a line with a basePrice of 3.75 is %+v", o.Lines.Nodes[1])
	}
	s.refused(http.StatusBadRequest, "PUT", add+"&basePrice=3&price=4", nil)
	s.refused(http.StatusBadRequest, "PUT", add+"&currentPrice=3", nil)
	for i, field := range []string{"price", "basePrice"} {
		var o integrated
		body := []map[string]any{{"variantId": sold[2+i], "quantity": 1, field: 2.5}}
		if got := s.put(fmt.Sprintf("/subscription-contracts-add-line-items?contractId=%d", s.id), body, &o); got != http.StatusOK || o.Lines.Nodes[2+i].CurrentPrice.Amount != "2.50" {
			t.Errorf("lines with a %s of 2.50 answered %d and are %+v", field, got, o.Lines.Nodes)
		}
	}
	line := url.QueryEscape(s.integrate("/subscription-contracts-update-delivery-price?contractId=%d&deliveryPrice=1", s.id).Lines.Nodes[0].ID)
	for _, operation := range []string{"-line-item-quantity?quantity=3", "-line-item-selling-plan?sellingPlanId=6001", "-line-item-price?basePrice=2&currentPrice=3"} {
		s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf("/subscription-contracts-update%s&contractId=%d&lineId=%s&price=3", operation, s.id, line), nil)
	}
	first := s.upcoming()[0]
	var list []oneOff
	if got := s.put(oneOffPath(s.id, first.ID, sold[3], "&price=1.25"), nil, &list); got != http.StatusOK || len(list) != 1 || list[0].Price != 1.25 {
		t.Errorf("a one-time product at 1.25 answered %d with %+v", got, list)
	}
}

// An order that is gone, or that cannot take a product any more, means the next one.
func TestOneOffForAPastOrderMovesToTheNext(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	sold := s.variants()
	gone := s.upcoming()[0].ID
	s.pass("P11D")
	next := s.upcoming()[0].ID
	for i, attempt := range []int64{gone, 999999999} {
		var list []oneOff
		if got := s.put(oneOffPath(s.id, attempt, sold[1+i], ""), nil, &list); got != http.StatusOK || len(list) != 1+i || list[i].Attempt == nil || *list[i].Attempt != next {
			t.Errorf("for attempt %d: answered %d with %+v, want all with attempt %d", attempt, got, list, next)
		}
	}
	if got := s.delete(oneOffPath(s.id, gone, sold[1], ""), nil); got != http.StatusBadRequest {
		t.Errorf("removing it from an order that was made answered %d", got)
	}
	s.put(fmt.Sprintf("/subscription-contracts-update-status?contractId=%d&status=PAUSED", s.id), nil, nil)
	s.refused(http.StatusBadRequest, "PUT", oneOffPath(s.id, gone, sold[3], ""), nil)
}

// Parameters that integrations spell in another way mean the same.
func TestParametersHaveOtherSpellings(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	ahead := s.checkout(map[string]any{
		"customer":      map[string]any{"email": "ben@shopper.example", "firstName": "Ben"},
		"billingPolicy": map[string]any{"interval": "MONTH", "intervalCount": 4}, "deliveryPolicy": map[string]any{"interval": "MONTH", "intervalCount": 1},
	})
	interval := "/subscription-contracts-update-delivery-interval?contractId=%d&%s"
	if o := s.integrate(interval, ahead, "deliveryInterval=MONTH&deliveryIntervalCount=2"); o.DeliveryPolicy.IntervalCount != 2 {
		t.Errorf("deliveries are every %d months, want 2", o.DeliveryPolicy.IntervalCount)
	}
	for _, query := range []string{"deliveryInterval=MONTH", "deliveryIntervalCount=1", "interval=MONTH&intervalCount=1&deliveryIntervalCount=4", "interval=MONTH&deliveryInterval=WEEK&intervalCount=1"} {
		s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf(interval, ahead, query), nil)
	}

	method := "/subscription-contracts-update-delivery-method?contractId=%d&%s"
	for query, want := range map[string][2]string{
		"delivery-method-title=Post&delivery-method-code=post-1":                           {"Post", "post-1"},
		"delivery-method-title=Post":                                                       {"Post", "Post"},
		"delivery-method-title=Post&delivery-method-presentment-title=By+post":             {"By post", "Post"},
		"deliveryMethodName=Express&delivery-method-title=Express&delivery-method-code=ex": {"Express", "ex"},
		"delivery-method-presentment-title=By+post&delivery-method-code=post-2":            {"By post", "post-2"},
	} {
		if o := s.integrate(method, s.id, query); o.DeliveryMethod.Title != want[0] || o.DeliveryMethod.ServiceCode != want[1] {
			t.Errorf("%s makes %+v, want %v", query, o.DeliveryMethod, want)
		}
	}
	for _, query := range []string{"delivery-method-code=post-1", "deliveryMethodName=A&delivery-method-title=B", "deliveryMethodName=A&deliveryMethodCode=b&delivery-method-code=c"} {
		s.refused(http.StatusBadRequest, "PUT", fmt.Sprintf(method, s.id, query), nil)
	}

	note := fmt.Sprintf("/subscription-billing-attempts-update-order-note/%d", s.upcoming()[0].ID)
	if got := s.put(note+"?note=Ring+twice", nil, nil); got != http.StatusOK || s.upcoming()[0].OrderNote == nil || *s.upcoming()[0].OrderNote != "Ring twice" {
		t.Errorf("a note answered %d and left %+v", got, s.upcoming()[0])
	}
	s.refused(http.StatusBadRequest, "PUT", note+"?note=a&orderNote=b", nil)
	s.refused(http.StatusBadRequest, "PUT", note, nil)

	var rows []row
	s.get(fmt.Sprintf("/subscription-contract-details?contractId=%d", ahead), &rows)
	if len(rows) != 1 || rows[0].SubscriptionContractID != ahead {
		t.Errorf("a search by contractId found %+v", rows)
	}
	s.get(fmt.Sprintf("/subscription-contract-details?contractId=%s", url.QueryEscape(fmt.Sprintf("gid://shopify/SubscriptionContract/%d", s.id))), &rows)
	if len(rows) != 1 || rows[0].SubscriptionContractID != s.id {
		t.Errorf("a search by graph id found %+v", rows)
	}
	s.refused(http.StatusBadRequest, "GET", fmt.Sprintf("/subscription-contract-details?contractId=%d&subscriptionContractId=%d", ahead, s.id), nil)

	var customers []struct{ CustomerID int64 }
	s.get("/subscription-contract-details/customers?sort=id,desc", &customers)
	if len(customers) != 2 || customers[0].CustomerID < customers[1].CustomerID {
		t.Errorf("sorted by id, descending, the customers are %+v", customers)
	}
	s.get("/subscription-contract-details/customers?sort=id,asc&size=1", &customers)
	if len(customers) != 1 {
		t.Errorf("the first page is %+v", customers)
	}
}

func TestDeclineAndDiscountHaveIntegrationShape(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	for query, want := range map[string]string{
		"percentage=10":                      `{"percentage":10}`,
		"amount=2.50&appliesOnEachItem=true": `{"amount":{"amount":"2.50","currencyCode":"USD"},"appliesOnEachItem":true}`,
	} {
		o := s.integrate("/subscription-contracts-add-discount?contractId=%d&discountTitle=Loyal&%s", s.id, query)
		if nodes := o.Discounts.Nodes; !slices.ContainsFunc(nodes, func(n struct{ Value json.RawMessage }) bool { return string(n.Value) == want }) {
			t.Errorf("%s makes %s, want %s among them", query, nodes, want)
		}
	}
	s.call("POST", "/platform/outcomes", map[string]any{"contractId": s.id, "code": "INSUFFICIENT_FUNDS"}, nil)
	s.pass("P11D")
	var report []struct {
		attempt
		Attempt  attempt `json:"subscriptionBillingAttempt"`
		Contract struct {
			ContractID                                        int64
			CustomerName, CustomerEmail, Status, CurrencyCode string
			TotalSuccessfulOrders                             int
			LifetimeValue                                     float64
		} `json:"subscriptionContractDetails"`
	}
	s.get("/subscription-billing-attempts/past-orders/report?status=FAILURE", &report)
	if len(report) != 1 || report[0].ID == 0 || report[0].Attempt.ID != report[0].ID || report[0].Attempt.Status != "FAILURE" {
		t.Fatalf("the report is %+v", report)
	}
	if c := report[0].Contract; c.ContractID != s.id || c.CustomerName == "" || c.CustomerEmail == "" || c.Status != "active" || c.CurrencyCode != "USD" || c.TotalSuccessfulOrders != 0 || c.LifetimeValue != 0 {
		t.Errorf("the report's contract is %+v", c)
	}
	var said struct {
		Code    string `json:"error_code"`
		Message string `json:"error_message"`
	}
	if err := json.Unmarshal([]byte(*report[0].ResponseMessage), &said); err != nil || said.Code != "INSUFFICIENT_FUNDS" || said.Message == "" {
		t.Errorf("the attempt says %s: %v", *report[0].ResponseMessage, err)
	}
}

// A contract that comes from another system keeps its id there.
func TestContractWithImportedIDIsImported(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	var o struct{ ID string }
	body := map[string]any{
		"customerId": s.payer(s.id), "nextBillingDate": "2026-12-24", "billingIntervalType": "MONTH", "billingIntervalCount": 1, "importedId": "sub_81",
		"deliveryAddress1": "12 Rua Nova", "deliveryCity": "Lisboa", "deliveryCountryCode": "PT",
		"lines": []any{map[string]any{"variantId": s.variants()[0], "quantity": 1, "currentPrice": "5.00"}},
	}
	if got := s.post("/subscription-contract-details/create-subscription-contract", body, &o); got != http.StatusCreated {
		t.Fatalf("answered %d", got)
	}
	s.pass("P1D")
	var rows []struct {
		GraphSubscriptionContractID, OriginType string
		ImportedID                              *string
	}
	s.get("/subscription-contract-details?recordType=imported", &rows)
	if len(rows) != 1 || rows[0].GraphSubscriptionContractID != o.ID || rows[0].OriginType != "IMPORTED" || rows[0].ImportedID == nil || *rows[0].ImportedID != "sub_81" {
		t.Errorf("the imported contracts are %+v, want %s", rows, o.ID)
	}
}

// A one-time product that is added as a line is shown among the lines while it is
// upcoming, and is removed as a line is.
func TestOneOffIsALineOfTheAnswer(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	v := s.articles()
	type line struct {
		ID, VariantID    string
		Quantity         int
		CurrentPrice     struct{ Amount string }
		CustomAttributes []struct{ Key, Value string }
		OneTime          bool `json:"_one_time_product"`
	}
	var o struct{ Lines struct{ Nodes []line } }
	add := func(n int) line {
		t.Helper()
		path := fmt.Sprintf("/subscription-contracts-add-line-item?contractId=%d&variantId=%d&quantity=2&isOneTimeProduct=true&price=3.50", s.id, v[n].VariantID)
		if got := s.put(path, nil, &o); got != http.StatusOK {
			t.Fatalf("adding answered %d", got)
		}
		return o.Lines.Nodes[len(o.Lines.Nodes)-1]
	}
	rows := func() (lines []line) {
		t.Helper()
		var rows []map[string]json.RawMessage // two names differ only in their case
		s.get(fmt.Sprintf("/subscription-contract-details?subscriptionContractId=%d", s.id), &rows)
		var text string
		var all []struct {
			LineID  string
			OneTime bool `json:"_one_time_product"`
		}
		if err := json.Unmarshal(rows[0]["contractDetailsJSON"], &text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatal(err)
		}
		for _, l := range all {
			lines = append(lines, line{ID: l.LineID, OneTime: l.OneTime})
		}
		return lines
	}
	first := add(1)
	if first.ID == "" || !first.OneTime || first.VariantID != fmt.Sprintf("gid://shopify/ProductVariant/%d", v[1].VariantID) || first.Quantity != 2 || first.CurrentPrice.Amount != "3.50" ||
		len(first.CustomAttributes) != 1 || first.CustomAttributes[0].Key != "_one_time_product" || first.CustomAttributes[0].Value != "true" || len(o.Lines.Nodes) != 2 || o.Lines.Nodes[0].OneTime {
		t.Fatalf("the lines are %+v", o.Lines.Nodes)
	}
	second := add(2)
	if got := rows(); len(got) != 3 || got[0].OneTime || got[1].ID != first.ID || !got[1].OneTime || got[2].ID != second.ID {
		t.Errorf("the row's lines are %+v", got)
	}
	remove := fmt.Sprintf("/subscription-contracts-remove-line-item?contractId=%d&lineId=%s", s.id, url.QueryEscape(first.ID))
	if got := s.put(remove, nil, &o); got != http.StatusOK {
		t.Errorf("removing answered %d", got)
	}
	s.refused(http.StatusBadRequest, "PUT", remove, nil)
	if got := rows(); len(got) != 2 || got[1].ID != second.ID {
		t.Errorf("after removing one the row's lines are %+v", got)
	}
	s.pass("P11D")
	if got := rows(); len(got) != 1 || got[0].OneTime {
		t.Errorf("after the order the row's lines are %+v", got)
	}
	s.wantLedger("1: A×2@12.50 C×2@3.50")
	s.wantEntries(created, oneOffAdded, oneOffAdded, oneOffRemoved, charged)
}

// A group is named by the service's number or by what the platform calls it, and keeps
// every field that it takes.
func TestGroupIsFoundByPlatformName(t *testing.T) {
	t.Parallel()
	s := subscribe(t, nil)
	type record struct {
		ID                 int64
		SellingPlanGroupID string
		GroupName          string
		ProductCount       int
		Plans              []struct {
			ID, IDNew              string
			GroupID                int64
			InventoryPolicyReserve *string
		} `json:"subscriptionPlans"`
	}
	var made record
	body := monthlyGroup("Coffee")
	body["subscriptionPlans"].([]any)[0].(map[string]any)["inventoryPolicyReserve"] = "ON_SALE"
	if got := s.post("/subscription-groups", body, &made); got != http.StatusCreated {
		t.Fatalf("making a group answered %d", got)
	}
	wantReserve := func(after, want string) {
		t.Helper()
		var now record
		s.get(fmt.Sprintf("/subscription-groups/%d", made.ID), &now)
		if r := now.Plans[0].InventoryPolicyReserve; r == nil || *r != want {
			t.Errorf("after %s the reserve is %v, want %s", after, r, want)
		}
	}
	wantReserve("the making", "ON_SALE")
	number := path.Base(made.SellingPlanGroupID)
	for i, name := range []string{fmt.Sprint(made.ID), number, url.PathEscape(made.SellingPlanGroupID)} {
		var got record
		s.get("/subscription-groups/"+name, &got)
		if got.ID != made.ID {
			t.Errorf("%s names group %d, want %d", name, got.ID, made.ID)
		}
		renamed := fmt.Sprintf("Coffee %d", i)
		if status := s.put("/subscription-groups/"+name, map[string]any{"groupName": renamed}, &got); status != http.StatusOK || got.GroupName != renamed {
			t.Errorf("renaming %s answered %d %+v", name, status, got)
		}
		if status := s.put(fmt.Sprintf("/subscription-groups/%s/add-products?productIds=%d", name, 3001+i), nil, &got); status != http.StatusOK || got.ProductCount == 0 {
			t.Errorf("adding a product to %s answered %d %+v", name, status, got)
		}
	}
	wantReserve("other changes", "ON_SALE")
	for _, id := range []any{made.ID, number, made.SellingPlanGroupID} {
		var got record
		plan := map[string]any{"id": made.Plans[0].ID, "groupId": id, "inventoryPolicyReserve": nil}
		if status := s.put("/subscription-groups", map[string]any{"id": id, "subscriptionPlans": []any{plan}}, &got); status != http.StatusOK || got.ID != made.ID || got.Plans[0].GroupID != made.ID {
			t.Errorf("a change of the group %v answered %d %+v", id, status, got)
		}
	}
	wantReserve("it is cleared", "ON_FULFILLMENT")
	s.refused(http.StatusNotFound, "GET", "/subscription-groups/"+url.PathEscape(fmt.Sprintf("gid://shopify/SellingPlanGroup/%d", made.ID)), nil)
	s.refused(http.StatusBadRequest, "GET", "/subscription-groups/"+url.PathEscape("gid://shopify/Product/1"), nil)
	s.refused(http.StatusBadRequest, "PUT", "/subscription-groups/"+number, map[string]any{"minimumOrderValue": 5})
	s.refused(http.StatusBadRequest, "PUT", "/subscription-groups/"+number, map[string]any{"subscriptionPlans": []any{map[string]any{"id": made.Plans[0].ID, "setupFee": 5}}})
	if got := s.delete("/subscription-groups/"+number, nil); got != http.StatusNoContent {
		t.Errorf("removing the group answered %d", got)
	}
}
